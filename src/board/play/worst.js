// The list of the worst moves of a line.
class WorstList {
  // `page` has `line()`, `color()` of the moves to list, `words` for them, and `go(number)`.
  constructor(page) { Object.assign(this, { page, key: "" }); }

  show(isWanted) {
    const { page } = this, get = id => document.getElementById(id), worst = worstOf(page.line(), page.color());
    get("worst").hidden = !worst.length || !isWanted;
    const known = JSON.stringify([worst.map(({ i, j }) => [i, j.j.l]), language]);
    if (known !== this.key) {
      this.key = known;
      get("worst-list").replaceChildren(...worst.map(node => {
        const item = document.createElement("li"), button = element("button"), color = node.m[0] === "B" ? "black" : "white";
        button.type = "button";
        button.append(element("span", node.n, "number"), element("span", "", `pip ${color}`), element("span", text(color), "hidden"),
          ` ${page.words.point(node.m)} `, element("span", `−${decimal(node.j.j.l[2] / 10, 1)}`, `loss ${gradeOf(node.j.j)}`),
          element("span", ` ${text("points")}, ${gradeWords(node.j.j)}`, "hidden"));
        button.addEventListener("click", () => page.go(node.i));
        item.append(button);
        return item;
      }));
    }
    get("again").textContent = text("again", { count: worst.length });
  }
}
