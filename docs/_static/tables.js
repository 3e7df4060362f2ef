// On a phone a row of a table becomes a list (site.css): each cell carries the name of its column.
document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll(".bd-article table")) {
    const names = [...table.querySelectorAll("thead tr:last-child th")].map((cell) => cell.textContent.trim());
    for (const row of table.querySelectorAll("tbody tr")) {
      [...row.children].forEach((cell, place) => {
        if (names[place]) cell.dataset.label = names[place];
      });
    }
  }
});
