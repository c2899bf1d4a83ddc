// The page about the REST API: what the OpenAPI description says, to read and to try.
import { el, themeButton } from "./dom.js";

const EXAMPLES = {
  "POST /api/align": [
    ["One pair", { source: "das ist gut", target: "that is good" }],
    [
      "Raw text in two languages",
      { source: "Das ist gut.", target: "That's good.", raw: true, source_language: "de", target_language: "en" },
    ],
    [
      "Several pairs without scores",
      {
        pairs: [
          { source: "guten Morgen", target: "good morning" },
          { source: ["New York", "schläft"], target: ["New York", "sleeps"] },
        ],
        scores: "none",
      },
    ],
    [
      "Known translations",
      { source: "die Bank ist zu", target: "the bench is closed", terms: [["Bank", "bench"]], method: "itermax" },
    ],
  ],
  "POST /api/texts": [
    ["Two texts", { source: "Das Haus ist alt. Ich mag es.", target: "The house is old, and I like it." }],
  ],
};

document.querySelector(".masthead").append(themeButton());
const root = document.getElementById("operations");
start().catch((error) => root.append(el("p", { role: "alert" }, error.message)));

async function start() {
  const description = await (await fetch("openapi.json")).json();
  // What most people come for stands first.
  const paths = Object.entries(description.paths);
  const first = ["/api/align", "/api/texts", "/api/models", "/health"].filter((path) => path in description.paths);
  paths.sort(([one], [other]) => first.includes(other) - first.includes(one) || first.indexOf(one) - first.indexOf(other));
  for (const [path, operations] of paths)
    for (const [method, operation] of Object.entries(operations))
      root.append(section(method.toUpperCase(), path, operation, description.components?.schemas ?? {}));
}

function section(method, path, operation, schemas) {
  const body = resolved(operation.requestBody?.content?.["application/json"]?.schema, schemas);
  const answer = resolved(operation.responses?.["200"]?.content?.["application/json"]?.schema, schemas);
  const refusals = Object.entries(operation.responses ?? {}).filter(([status]) => status !== "200");
  return el(
    "section",
    { "aria-label": `${method} ${path}` },
    el("h2", {}, el("span", { class: "method" }, method), path),
    el("p", {}, operation.summary ?? ""),
    ...fieldsOf("Fields", body, schemas),
    ...fieldsOf("Answer", answer, schemas),
    ...(refusals.length
      ? [
          el("h3", {}, "Refusals"),
          table(refusals.map(([status, response]) => [status, response.description ?? "", ""])),
        ]
      : []),
    ...(path.includes("{") ? [] : trial(method, path, body)),
  );
}

function resolved(schema, schemas) {
  const name = schema?.$ref?.split("/").at(-1);
  return name ? schemas[name] : schema;
}

function fieldsOf(title, schema, schemas) {
  const fields = Object.entries(schema?.properties ?? {});
  if (!fields.length) return [];
  const rows = fields.map(([name, field]) => [name, describedBy(field), kindOf(field, schemas)]);
  const inner = fields.flatMap(([name, field]) =>
    (field.anyOf ?? [field])
      .filter((part) => part.items?.$ref)
      .flatMap((part) => fieldsOf(`Each of ${name}`, resolved(part.items, schemas), schemas)),
  );
  return [el("h3", {}, title), table(rows), ...inner];
}

const describedBy = (field) =>
  field.description ?? field.anyOf?.map((part) => part.description).find((text) => text) ?? "";

function kindOf(field, schemas) {
  if (field.$ref) {
    const named = resolved(field, schemas);
    return named?.enum ? named.enum.join(" | ") : (named?.title ?? "");
  }
  if (field.enum) return field.enum.join(" | ");
  if (field.const !== undefined) return String(field.const);
  if (field.anyOf) return [...new Set(field.anyOf.map((part) => kindOf(part, schemas)))].filter(Boolean).join(" or ");
  if (field.type === "array") return field.items ? `list of ${kindOf(field.items, schemas) || "values"}` : "list";
  return field.type === "null" ? "" : (field.type ?? "");
}

function table(rows) {
  const lines = rows.map(([name, text, kind]) =>
    el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, text), el("td", { class: "kind" }, kind)),
  );
  return el("div", { class: "table", tabindex: "0" }, el("table", {}, el("tbody", {}, ...lines)));
}

// A request to change and to send; the same as a line for the shell.
function trial(method, path, body) {
  const examples = EXAMPLES[`${method} ${path}`] ?? (body ? [] : [["", null]]);
  if (!examples.length) return [];
  const text = body ? el("textarea", { "aria-label": `Body of ${method} ${path}`, spellcheck: "false" }) : null;
  const command = el("pre", { "aria-label": "The same with curl", tabindex: "0" });
  const result = el("pre", { "aria-label": "Answer", "aria-live": "polite", tabindex: "0" });
  result.hidden = true;
  const write = (request) => {
    if (text) text.value = JSON.stringify(request, null, 2);
    command.textContent = asCurl(method, path, text?.value);
  };
  text?.addEventListener("input", () => (command.textContent = asCurl(method, path, text.value)));
  const send = async () => {
    result.hidden = false;
    result.textContent = await sent(method, path, text?.value);
  };
  const choices = body
    ? examples.map(([label, request]) => el("button", { type: "button", click: () => write(request) }, label))
    : [];
  write(examples[0][1]);
  return [
    el("h3", {}, "Try it"),
    ...(choices.length ? [el("div", { class: "row" }, ...choices)] : []),
    ...(text ? [text] : []),
    el("div", { class: "row" }, el("button", { type: "button", class: "main", click: send }, "Send")),
    result,
    el("h3", {}, "With curl"),
    command,
  ];
}

async function sent(method, path, body) {
  const started = performance.now();
  try {
    const headers = body === undefined ? {} : { "Content-Type": "application/json" };
    const response = await fetch(path.slice(1), { method, headers, body });
    const answer = await response.json();
    const milliseconds = Math.round(performance.now() - started);
    return `${response.status} after ${milliseconds} ms\n${pretty(answer)}`;
  } catch (error) {
    return error.message;
  }
}

// Short lists on one line: links are read across, not down.
function pretty(value) {
  return JSON.stringify(value, null, 2).replace(/\[\n\s+([^[\]{}]*?)\n\s+\]/g, (whole, inner) => {
    const line = `[${inner.replace(/\n\s+/g, " ")}]`;
    return line.length < 100 ? line : whole;
  });
}

function asCurl(method, path, body) {
  const address = new URL(path.slice(1), document.baseURI).href;
  if (body === undefined) return `curl -s ${address}`;
  const compact = (() => {
    try {
      return JSON.stringify(JSON.parse(body));
    } catch {
      return body;
    }
  })();
  return `curl -s ${address} -H 'Content-Type: application/json' \\\n  -d '${compact.replaceAll("'", "'\\''")}'`;
}
