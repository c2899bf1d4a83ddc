// The list to go back to: works of this browser, or projects of the server.
import { getProjects } from "./api.js";
import { clockOf, el } from "./dom.js";
import { dialog } from "./keys.js";
import { BrowserStore } from "./store.js";

export class Works {
  constructor(app, opening) {
    Object.assign(this, { app, opening });
  }

  async list() {
    const works = this.opening.db && !this.opening.projects ? await BrowserStore.list(this.opening.db) : [];
    const { projects } = await getProjects();
    const rows = [
      ...projects.map((project) => this.row(project.title, `${project.pairs} pair${project.pairs === 1 ? "" : "s"} · ${project.confirmed} confirmed`, () => this.opening.chooseProject(project.name))),
      ...works.map((work) =>
        this.row(work.name, `${aboutOf(work)} · saved ${clockOf(work.saved)}`, () => this.opening.openWork(work.id), {
          Rename: (row) => this.rename(work, row),
          Delete: (row) => this.remove(work, row),
        }),
      ),
    ];
    this.listed = dialog(this.opening.projects ? "Projects" : "Work in this browser", el("ul", { class: "works" }, ...rows));
  }

  row(name, about, open, more = {}) {
    const act = (action) => () => this.app.attempt(async () => action(row));
    const opened = async () => {
      this.listed.close();
      this.opening.notice(null);
      if (location.hash) history.replaceState(null, "", location.pathname + location.search);
      await open();
    };
    const buttons = Object.entries(more).map(([label, action]) =>
      el("button", { type: "button", class: "quiet", "aria-label": `${label} ${name}`, click: act(action) }, label),
    );
    const row = el("li", {}, el("button", { type: "button", class: "name", click: act(opened) }, name), el("span", {}, about), ...buttons);
    return row;
  }

  async rename(work, row) {
    const field = el("input", { value: work.name, "aria-label": "New name", maxlength: 80 });
    const keep = async () => {
      const { store } = await BrowserStore.open(this.opening.db, work.id);
      await store.keepAbout({ name: field.value.trim() || work.name });
      if (this.app.work.store?.about?.id === work.id) {
        this.app.work.store.about.name = store.about.name;
        this.opening.entitle(store.about.name);
      }
      store.close();
      this.listed.close();
      await this.list();
    };
    row.replaceChildren(field, el("button", { type: "button", click: () => this.app.attempt(keep) }, "Save"));
    field.focus();
  }

  // Only this takes something away, and it asks.
  async remove(work, row) {
    const sure = async () => {
      await BrowserStore.remove(this.opening.db, work.id);
      this.listed.close();
      if (this.app.work.store?.about?.id === work.id) await this.opening.goOn();
      await this.list();
    };
    row.replaceChildren(
      el("span", {}, `Delete ${work.name} and its ${work.count === 1 ? "pair" : `${work.count} pairs`} permanently?`),
      el("button", { type: "button", click: () => this.app.attempt(sure) }, "Delete permanently"),
      el("button", { type: "button", click: () => (this.listed.close(), this.list()) }, "Cancel"),
    );
  }
}

// Single sentences all have the same name: their words tell them apart.
function aboutOf({ count, begins }) {
  if (count > 1) return `${count} pairs`;
  return begins ? `“${begins.slice(0, 40)}${begins.length > 40 ? "…" : ""}”` : "empty";
}
