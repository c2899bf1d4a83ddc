// Sentences to try, in six scripts.
import { el } from "./dom.js";

export const EXAMPLES = [
  ["Română", "Ieri am citit o carte foarte bună.", "Yesterday I read a very good book."],
  ["日本語", "私は昨日新しい本を買いました。", "I bought a new book yesterday."],
  ["中文", "他昨天在北京买了一辆红色的汽车。", "He bought a red car in Beijing yesterday."],
  ["العربية", "قرأت الطالبة كتابا جديدا في المكتبة .", "The student read a new book in the library ."],
  ["Русский", "Завтра мы поедем на поезде в Москву.", "Tomorrow we will go to Moscow by train."],
  ["Ελληνικά", "Χθες διάβασα ένα πολύ καλό βιβλίο.", "Yesterday I read a very good book."],
];

export function exampleButtons(choose) {
  return [
    el("span", { class: "lead" }, "Try"),
    ...EXAMPLES.map(([name, source, target]) =>
      el("button", { type: "button", class: "chip", click: () => choose(source, target) }, name),
    ),
  ];
}
