// Sorts the rows of tables on a click on a column header. Headers with `data-sort-first` name the order of the first
// click, `ascending` or `descending`; the next click reverses it. Cells are compared by the number in `data-sort`,
// otherwise by their text. Empty cells stay at the end. Needs `language`. This script must not contain angle brackets
// or ampersands, because it is also part of pages that are read as XML.
function sortTables() {
  for (const table of document.querySelectorAll("table")) {
    const heads = Array.from(table.querySelectorAll("th")), body = table.tBodies[0];
    const rows = Array.from(body.rows);
    const sort = column => {
      const head = heads[column], first = head.dataset.sortFirst;
      const turned = first === "ascending" ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") === first ? turned : first;
      const sign = order === "ascending" ? 1 : -1, collator = new Intl.Collator(language, { numeric: true });
      const keys = new Map(rows.map(row => {
        const { dataset, textContent } = row.cells[column];
        return [row, dataset.sort ?? textContent.trim()];
      }));
      const isNumber = rows.some(row => row.cells[column].dataset.sort);
      const compare = (one, other) => {
        const [a, b] = [keys.get(one), keys.get(other)];
        if (a === "" || b === "") return (a === "" ? 1 : 0) - (b === "" ? 1 : 0);
        return sign * (isNumber ? a - b : collator.compare(a, b));
      };
      // Equal rows keep the page's original order.
      body.append(...rows.slice().sort(compare));
      for (const it of heads) it.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", order);
    };
    heads.forEach((head, column) => {
      if (!head.dataset.sortFirst) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(column));
      head.append(button);
    });
  }
}
sortTables();
