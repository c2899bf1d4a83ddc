// Hovering: the links in question and their words stand out, the rest steps back.

export function light(picture, marks, extra = []) {
  unlight(picture);
  picture.classList.add("hovering");
  for (const node of extra) node.classList.add("lit");
  for (const { i, j } of marks) {
    for (const node of picture.querySelectorAll(partsOf(i, j))) {
      node.classList.add("lit");
      node.style.setProperty("--hue", hueOf(i));
    }
  }
  if (marks.length) for (const node of extra) node.style.setProperty("--hue", hueOf(marks[0].i));
}

// Neighbours have hues that are far apart.
const hueOf = (i) => (210 + i * 137) % 360;

function partsOf(i, j) {
  const words = `[data-side="source"][data-k="${i}"], [data-side="target"][data-k="${j}"]`;
  return `${words}, [data-i="${i}"][data-j="${j}"]`;
}

export function unlight(picture) {
  picture.classList.remove("hovering");
  for (const node of picture.querySelectorAll(".lit")) node.classList.remove("lit");
}
