"use strict";
/* What the pages of the package share: frames of plots, marks, hints, a table that can be searched
   and sorted. Texts from the data only ever become text nodes. */
const replearnPage = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  document.documentElement.classList.add("js");

  // -- small helpers -----------------------------------------------------------------------------
  const percent = (value, digits = 2) => `${(100 * value).toFixed(digits)} %`;
  const withLimits = (e, digits = 2) => `${percent(e.value, digits)} (${(100 * e.lower).toFixed(digits)} to ${percent(e.upper, digits)})`;
  const numbers = (e) => `${e.value.toFixed(3)} (${e.lower.toFixed(3)} to ${e.upper.toFixed(3)})`;
  const series = (i) => `s${i % 6}`;

  function element(name, attributes = {}, text = null) {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== null) node.textContent = text;
    return node;
  }

  /* Round steps of 1, 2 or 5 times a power of ten. */
  function ticks(low, high, wanted) {
    const rough = Math.max(high - low, 1e-9) / wanted;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) found.push(k * step);
    return found;
  }

  const digitsFor = (values) => (values.length > 1 && Math.abs(values[1] - values[0]) < 0.0099 ? (Math.abs(values[1] - values[0]) < 0.00099 ? 2 : 1) : 0);

  // -- frame of a plot ---------------------------------------------------------------------------
  /* Draw at the width of the container, so that text keeps its size on a phone. */
  function frame(id, { x, y, height, left = 58, xLabel, yLabel, label, xTicks = null, yTicks = null, xDigits = null, plain = false }) {
    const box = document.getElementById(id);
    const width = Math.max(260, Math.round(box.clientWidth || 560));
    const area = { left, right: width - 22, top: 12, bottom: height - 44 };
    const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": label });
    const scaleX = (v) => area.left + ((v - x[0]) / (x[1] - x[0])) * (area.right - area.left);
    const scaleY = (v) => area.bottom - ((v - y[0]) / (y[1] - y[0])) * (area.bottom - area.top);
    const xs = xTicks ?? ticks(x[0], x[1], width < 420 ? 4 : 6).map((v) => [v, null]);
    for (const [v, text] of xs) {
      svg.append(element("line", { class: "axis", x1: scaleX(v), x2: scaleX(v), y1: area.top, y2: area.bottom }));
      svg.append(element("text", { x: scaleX(v), y: area.bottom + 17, "text-anchor": "middle" }, text ?? percent(v, xDigits ?? digitsFor(xs.map(([value]) => value)))));
    }
    const ys = yTicks ?? ticks(y[0], y[1], 5).map((v) => [v, null]);
    const digits = digitsFor(ys.map(([v]) => v));
    for (const [v, text] of ys) {
      svg.append(element("line", { class: "axis", x1: area.left, x2: area.right, y1: scaleY(v), y2: scaleY(v) }));
      svg.append(element("text", { x: area.left - 7, y: scaleY(v) + 4, "text-anchor": "end" }, text ?? (plain ? v.toFixed(2) : percent(v, digits))));
    }
    svg.append(element("text", { class: "name", x: (area.left + area.right) / 2, y: height - 8, "text-anchor": "middle" }, xLabel));
    if (yLabel) svg.append(element("text", { class: "name", x: 13, y: (area.top + area.bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 13 ${(area.top + area.bottom) / 2})` }, yLabel));
    box.replaceChildren(svg);
    return { svg, scaleX, scaleY, area, width };
  }

  /* A mark that can be pointed at and reached by keyboard; shape and colour tell the contender. */
  function mark(group, x, y, index, words, size = 6) {
    const shapes = [
      () => element("circle", { cx: x, cy: y, r: size }),
      () => element("rect", { x: x - size * 0.9, y: y - size * 0.9, width: size * 1.8, height: size * 1.8 }),
      () => element("path", { d: `M${x} ${y - size * 1.2} L${x + size * 1.15} ${y + size} L${x - size * 1.15} ${y + size} Z` }),
      () => element("path", { d: `M${x} ${y - size * 1.3} L${x + size * 1.3} ${y} L${x} ${y + size * 1.3} L${x - size * 1.3} ${y} Z` }),
    ];
    const node = shapes[index % shapes.length]();
    node.setAttribute("class", "point");
    node.setAttribute("tabindex", "0");
    node.setAttribute("role", "img");
    node.setAttribute("aria-label", words.replaceAll("\n", ", "));
    for (const event of ["mouseenter", "focus"]) node.addEventListener(event, () => tell(node, words));
    for (const event of ["mouseleave", "blur"]) node.addEventListener(event, hush);
    group.append(node);
  }

  const tip = document.getElementById("tip");
  function tell(node, words) {
    tip.textContent = words;
    tip.hidden = false;
    const at = node.getBoundingClientRect();
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    const besides = node.classList.contains("term") ? at.left : at.right + 8;
    tip.style.left = `${Math.max(8, Math.min(besides, room)) + window.scrollX}px`;
    tip.style.top = `${at.bottom + 6 + window.scrollY}px`;
  }
  function hush() { tip.hidden = true; }
  for (const term of document.querySelectorAll(".term")) {
    const show = () => { term.setAttribute("aria-describedby", "tip"); tell(term, term.dataset.hint); };
    const hide = () => { term.removeAttribute("aria-describedby"); hush(); };
    for (const event of ["mouseenter", "focus", "click"]) term.addEventListener(event, show);
    for (const event of ["mouseleave", "blur"]) term.addEventListener(event, hide);
  }
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hush(); });

  const group = (svg, i) => { const g = element("g", { class: series(i) }); svg.append(g); return g; };
  const whisker = (g, x1, y1, x2, y2) => g.append(element("line", { class: "bar", x1, y1, x2, y2 }));

  // -- table of rows -----------------------------------------------------------------------------
  /* Sort by any column, search by text; ``accepts`` may hide more rows. Returns what filters. */
  function searchableTable(accepts = () => true, tableId = "row-table", searchId = "search", countId = "count") {
    const table = document.getElementById(tableId);
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => ({ row, words: row.textContent.toLowerCase() }));
    const count = document.getElementById(countId);

    function filter() {
      const wanted = document.getElementById(searchId).value.trim().toLowerCase();
      let visible = 0;
      for (const { row, words } of rows) {
        row.hidden = !(words.includes(wanted) && accepts(row));
        if (!row.hidden) visible += 1;
      }
      count.textContent = `${visible} of ${rows.length} rows`;
    }
    document.getElementById(searchId).addEventListener("input", filter);

    function sortBy(head, column, numeric) {
      const descending = head.getAttribute("aria-sort") !== "descending" && (numeric || head.getAttribute("aria-sort") === "ascending");
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const value = ({ row }) => (numeric ? Number(row.cells[column].dataset.sort) : row.cells[column].textContent);
      const compare = numeric ? (a, b) => value(a) - value(b) : (a, b) => value(a).localeCompare(value(b));
      rows.sort((a, b) => (descending ? compare(b, a) : compare(a, b)));
      body.append(...rows.map(({ row }) => row));
    }

    [...table.tHead.rows[0].cells].forEach((head, column) => {
      if (!head.dataset.kind) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sortBy(head, column, head.dataset.kind === "number"));
    });

    filter();
    return filter;
  }

  // -- plots take the width that they have: when a part is opened, when the window changes ---------
  function keepDrawn(drawAll) {
    for (const part of document.querySelectorAll("details.part")) part.addEventListener("toggle", () => { if (part.open) drawAll(); });
    drawAll();
    let last = window.innerWidth;
    window.addEventListener("resize", () => {
      if (window.innerWidth !== last) { last = window.innerWidth; drawAll(); }
    });
  }

  return { percent, withLimits, numbers, series, element, frame, mark, group, whisker, searchableTable, keepDrawn };
})();
