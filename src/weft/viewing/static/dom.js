// Elements from data. Text goes in as text nodes only, so nothing in a sentence is ever read as markup.
const SVG_NAMES = "http://www.w3.org/2000/svg";

export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function shape(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG_NAMES, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false)
      node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// Offer text or a blob as a file.
export function download(name, content, type = "text/plain;charset=utf-8") {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const address = URL.createObjectURL(blob);
  const anchor = el("a", { href: address, download: name });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// The time of a day, with the day unless it is today.
export function clockOf(time) {
  const moment = new Date(time);
  const today = moment.toDateString() === new Date().toDateString();
  const day = today ? {} : { day: "numeric", month: "short" };
  return moment.toLocaleString("en-GB", { ...day, hour: "2-digit", minute: "2-digit" });
}

// A row of buttons of which one is pressed.
export function choice(label, options, chosen, choose) {
  const buttons = options.map(([value, text]) =>
    el(
      "button",
      { type: "button", "aria-pressed": String(value === chosen), "data-value": value, click: () => pick(value) },
      text,
    ),
  );
  function pick(value) {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.value === value));
    choose(value);
  }
  return el("div", { class: "choice", role: "group", "aria-label": label }, ...buttons);
}

// Light, dark, or what the system says.
export function themeButton() {
  const order = ["auto", "light", "dark"];
  let theme = remembered("weft-theme") ?? "auto";
  const button = el("button", {
    type: "button",
    class: "quiet theme",
    click: () => show(order[(order.indexOf(theme) + 1) % 3]),
  });
  function show(next) {
    theme = order.includes(next) ? next : "auto";
    document.documentElement.dataset.theme = theme;
    button.textContent = { auto: "◐ Auto", light: "○ Light", dark: "● Dark" }[theme];
    button.setAttribute("aria-label", `Colours: ${theme}`);
    remember("weft-theme", theme);
  }
  show(theme);
  return button;
}

// Pages opened from a disk may have no storage; then nothing is remembered. `sessionStorage` belongs to one tab.
export function remembered(name, storage = "localStorage") {
  try {
    return window[storage].getItem(name);
  } catch {
    return null;
  }
}

export function remember(name, value, storage = "localStorage") {
  try {
    window[storage].setItem(name, value);
    return true;
  } catch {
    return false;
  }
}
