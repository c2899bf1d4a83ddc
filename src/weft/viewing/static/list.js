// A list of any length of which only what is near the screen is drawn.

export class LongList {
  // `draw(article, item)` fills an article; `estimate(item)` guesses its height before it was ever drawn.
  constructor(root, draw, estimate) {
    this.root = root;
    this.draw = draw;
    this.estimate = estimate;
    this.items = new Map();
    this.drawn = new Set();
    this.width = root.clientWidth;
    new ResizeObserver(() => this.resized()).observe(root);
  }

  show(items) {
    this.observer?.disconnect();
    this.observer = new IntersectionObserver((entries) => this.moved(entries), { rootMargin: "900px 0px" });
    this.drawn.clear();
    this.items = new Map();
    const articles = items.map((item) => {
      const article = document.createElement("article");
      article.tabIndex = -1;
      article.style.minHeight = `${this.estimate(item)}px`;
      article.dataset.number = item.number;
      article.setAttribute("aria-label", `Pair ${item.number}`);
      this.items.set(article, item);
      return article;
    });
    this.root.replaceChildren(...articles);
    for (const article of articles) this.observer.observe(article);
  }

  moved(entries) {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) this.fill(target);
      else this.empty(target);
    }
  }

  fill(article) {
    if (this.drawn.has(article)) return;
    this.drawn.add(article);
    this.draw(article, this.items.get(article));
    article.style.minHeight = "";
  }

  // The height stays, so that nothing jumps; what has the focus stays too.
  empty(article, height = article.offsetHeight) {
    if (!this.drawn.has(article) || article.contains(document.activeElement)) return;
    article.style.minHeight = `${height}px`;
    this.drawn.delete(article);
    article.replaceChildren();
  }

  // Paper has no scrolling: everything is drawn, as wide as `look` makes it, and afterwards what is far away goes again.
  fillAll(look) {
    document.documentElement.classList.add(look);
    this.near = new Set(this.drawn);
    this.drawn.clear();
    // One at a time and the others out of the way: measuring words must not lay all pairs out anew.
    this.root.classList.add("filling");
    for (const article of this.items.keys()) {
      article.classList.add("filled");
      this.fill(article);
      article.classList.remove("filled");
    }
    this.root.classList.remove("filling");
  }

  emptyAgain(look) {
    document.documentElement.classList.remove(look);
    const far = [...this.drawn].filter((article) => !this.near?.has(article));
    const heights = far.map((article) => article.offsetHeight);
    far.forEach((article, k) => this.empty(article, heights[k]));
    this.redraw();
  }

  redraw() {
    for (const article of this.drawn) this.draw(article, this.items.get(article));
  }

  resized() {
    if (Math.abs(this.root.clientWidth - this.width) < 2) return;
    this.width = this.root.clientWidth;
    cancelAnimationFrame(this.waiting);
    this.waiting = requestAnimationFrame(() => this.redraw());
  }

  // The pair before or after the one that has the focus, or the first one on the screen.
  step(direction) {
    const current = document.activeElement?.closest("article");
    const articles = [...this.root.children];
    const seen = articles.findIndex((article) => article.getBoundingClientRect().bottom > 120);
    const next = articles[current ? articles.indexOf(current) + direction : seen];
    next?.scrollIntoView({ block: "start" });
    next?.focus({ preventScroll: true });
  }
}
