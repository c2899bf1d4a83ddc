// Stands in the page itself, as browsers load no other script for a page that is opened from a disk: says what to do.
if (location.protocol === "file:") {
  addEventListener("DOMContentLoaded", () => {
    const notice = document.createElement("div");
    notice.setAttribute("role", "alert");
    notice.innerHTML =
      "<p>Browsers do not run this page from a file. Serve the folder: run</p>" +
      "<pre>python -m http.server</pre>" +
      '<p>in the folder of this file, and open <a href="http://localhost:8000">http://localhost:8000</a>.</p>';
    document.querySelector("main").replaceChildren(notice);
    for (const dead of document.querySelectorAll(".masthead a, .masthead button")) {
      dead.replaceWith(dead.closest("h1") ? dead.textContent : "");
    }
  });
}
