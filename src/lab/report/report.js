// The report: the tables, texts and links of report.html, made of the data that the page carries. The plots are drawn already; they
// wait in a template and are put where they belong.
(() => {
  const FIGURES = ["fig10", "fig11"];
  const RUNS = FIGURES.flatMap(figure => ["native", "simulated"].map(kind => ({figure, kind, id: `${figure}-${kind}`})));
  const NONE = "–";
  const source = $("report-data").textContent;
  const data = JSON.parse(source);
  const plots = $("plots").content;

  const runOf = run => data.figures[run.figure][run.kind];
  const words = value => typeof value === "string" ? value : JSON.stringify(value);
  /** To three digits. */
  const short = n => String(Number(n.toPrecision(3)));
  const counted = (n, unit) => `${n.toLocaleString("en")} ${unit}${n === 1 ? "" : "s"}`;
  const small = text => element("span", text, "small");
  const code = text => element("code", text);
  const cell = (content, className) => element("td", content, className);
  const number = n => cell(String(n), "number");
  const newline = () => document.createElement("br");

  function heading(scope, content) {
    const th = element("th", content);
    th.scope = scope;
    return th;
  }
  const row = (name, ...cells) => element("tr", [heading("row", name), ...cells]);
  const addColumns = (table, names) => table.tHead.rows[0].append(...names.map(name => heading("col", name)));
  const addRows = (table, rows) => table.tBodies[0].append(...rows);
  /** The lists one after another, with a separator between them. */
  const joined = (lists, separator) => lists.flatMap((list, i) => i === 0 ? list : [separator(), ...list]);

  const csv = lines => lines.map(line => line.join(",") + "\n").join("");
  function save(link, type, text) {
    link.href = `data:${type};charset=utf-8,${encodeURIComponent(text)}`;
  }
  const linkTo = file => document.querySelector(`a[download="${file}"]`);

  /** A figure of the plot with this id, captioned by its title. */
  function place(figure, id) {
    const plot = plots.getElementById(id);
    const caption = figure.querySelector("figcaption");
    caption.textContent = plot.querySelector("title").textContent;
    caption.after(plot);
    return figure;
  }
  const figureOf = id => place(element("figure", element("figcaption")), id);
  const plotsNamed = start => [...plots.querySelectorAll("svg.plot")].map(svg => svg.id).filter(id => id.startsWith(start));

  /** Which observations hold in one run, in a sentence. */
  function summary(run) {
    const said = [element("strong", runOf(run).title + ".")];
    for (const [answer, verb] of [["yes", "Holds"], ["no", "Does not hold"], ["unknown", "Not decided"]]) {
      const claims = runOf(run).observations.filter(o => o.holds === answer).map(o => o.claim);
      if (claims.length) said.push(` ${verb}: ${claims.join("; ")}.`);
    }
    return element("p", said);
  }

  function showObservations() {
    const classes = {yes: "holds", no: "violated", unknown: "undecided"};
    const answer = o => cell([element("strong", o.holds, classes[o.holds]), newline(), small(o.evidence)]);
    $("summaries").append(...RUNS.map(summary));
    addColumns($("observation-table"), RUNS.map(run => runOf(run).title));
    addRows($("observation-table"), runOf(RUNS[0]).observations.map((o, i) =>
      row([o.claim, newline(), small(`yes if ${o.rule}`)], ...RUNS.map(run => answer(runOf(run).observations[i])))));
  }

  function showConditions() {
    for (const span of document.querySelectorAll("[data-value]")) {
      const [figure, kind, name] = span.dataset.value.split(".");
      const value = data.figures[figure][kind].conditions[name];
      span.textContent = span.dataset.unit ? counted(value, span.dataset.unit) : value.toLocaleString("en");
    }
  }

  /** Rows are curves, columns process counts. */
  function medianTable(curves) {
    const made = $("medians").content.cloneNode(true);
    const table = made.querySelector("table");
    const counts = [...new Set(curves.flatMap(c => c.points.map(p => p.processes)))].sort((a, b) => a - b);
    addColumns(table, counts.map(P => `P = ${P}`));
    addRows(table, curves.map(c => row(c.name, ...counts.map(P => {
      const median = c.medians.find(m => m.processes === P);
      return median ? number(short(median.seconds)) : cell(NONE);
    }))));
    return made;
  }

  const pointLines = queue => queue.curves.flatMap(c => c.points.map(p =>
    [queue.places, c.id, p.processes, p.operations, p.done, p.seconds, p.total_seconds]));

  function showRun(run) {
    const all = runOf(run), large = all.large_queue;
    const figure = place($("run").content.cloneNode(true).firstElementChild, run.id);
    const link = figure.querySelector("a");
    link.download = `${run.id}.csv`;
    save(link, "text/csv", csv([["places", "curve", "processes", "operations", "done", "seconds", "total_seconds"],
      ...pointLines(all), ...pointLines(large)]));
    figure.querySelector(".medians").append(medianTable(all.curves));
    figure.querySelector(".large summary").textContent =
      `What copying costs: the same with a queue of ${large.places} places instead of ${all.places}`;
    figure.querySelector(".large").append(medianTable(large.curves));
    $("curves").append(figure);
  }

  function showCosts() {
    const [cc, dsm] = FIGURES.map(figure => data.figures[figure].simulated.machine);
    addRows($("costs"), Object.keys(cc).map(name => row(name, cell(words(cc[name])), cell(words(dsm[name])))));
  }

  function showScale() {
    $("scale-plots").append(...plotsNamed("scale-").map(figureOf));
    save(linkTo("scale.csv"), "text/csv", csv([["figure", "curve", "processors", "processes", "microseconds", "remote"],
      ...FIGURES.flatMap(figure => data.scale[figure].map(p => [figure, p.id, p.processors, p.processes, p.microseconds, p.remote]))]));
  }

  /** One verdict of an algorithm: where it was decided if not at its own size, and whether it is a surprise. */
  function verdict(v, algorithm) {
    const violated = v.verdict === "violated";
    const surprises = violated && v.promised && !v.kept_for_errors;
    let remark = v.N !== algorithm.N || v.k !== algorithm.k ? ` at (${v.N},${v.k})` : "";
    if (violated && !surprises)
      remark += v.kept_for_errors ? " (expected: the error it is kept for, docs/errata.md)" : " (not promised)";
    if (v.verdict === "undecided" && v.why) remark += ` (${v.why})`;
    const within = v.within_passages;
    const shown = element("span", within ? `holds within ${within} passage${within === 1 ? "" : "s"}` : v.verdict);
    shown.classList.add(violated && !surprises ? "quiet" : ["holds", "violated"].includes(v.verdict) ? v.verdict : "undecided");
    return [shown, ` ${v.name}${remark}`];
  }

  function showCatalogue() {
    const size = a => `(${a.N},${a.k})` + (a.passages === 0 ? "" : a.passages === 1 ? ", one passage each" : `, ${a.passages} passages each`);
    addRows($("verdicts"), data.catalogue.map(a => row(code(a.id),
      cell([a.title, newline(), small(joined([[a.source], ...(a.note ? [[a.note]] : [])], newline))]),
      cell(a.promises), cell(size(a)), cell(joined(a.verdicts.map(v => verdict(v, a)), newline)), number(a.states))));
  }

  const isUnbounded = m => typeof m.worst === "string";
  const bound = m => typeof m.bound === "number" ? String(m.bound) : "unbounded";
  const worst = m => isUnbounded(m) ? "unbounded" : (m.exhaustive ? "" : "≥") + m.worst;
  const exceeds = m => typeof m.bound === "number" && (isUnbounded(m) || m.worst > m.bound);

  function showRemoteReferences() {
    $("rmr-plots").append(...plotsNamed("rmr-").map(figureOf));
    save(linkTo("rmr.csv"), "text/csv", csv([["model", "against", "x", "algorithm", "worst", "bound"],
      ...data.rmr.series.flatMap(s => s.points.map(m => [s.model, s.against, m.x, m.algorithm, m.worst, bound(m)]))]));
    const measured = m => element("span", `(${m.N},${m.k})${m.contention > 0 ? ` c=${m.contention}` : ""} ${worst(m)}/${bound(m)}`,
      exceeds(m) ? "violated" : "");
    addRows($("claims"), data.rmr.claims.map(c => row(c.source, cell(code(c.algorithm)), cell(c.model),
      cell(c.formula + (c.case ? `, ${c.case}` : "")), cell(joined(c.measured.map(m => [measured(m)]), () => ", ")))));
  }

  function showSpace() {
    const limit = b => b ? cell([`${b.value} `, small(b.formula)]) : cell(NONE);
    addRows($("contents"), data.space.map(c => row(code(c.algorithm), cell(String(c.N)), cell(String(c.k)),
      number((c.exhaustive ? "" : "≥") + c.values), limit(c.upper), limit(c.lower))));
  }

  function showBench() {
    if (data.bench === null) return;
    for (const e of document.querySelectorAll(".if-bench")) e.hidden = false;
    const reference = "std::counting_semaphore";
    const rates = data.bench.results.map(r => new Map(r.peers.map(p =>
      [p.peer, typeof p.median_ops_per_s === "number" ? p.median_ops_per_s : 0])));
    const peers = [...new Set(rates.flatMap(r => [...r.keys()]))].sort();
    const ratios = peers.includes(reference);
    $("bench-unit").textContent = ratios ? `as ratios to ${reference} in the same run` : "medians";
    addColumns($("rates"), data.bench.results.map(r => r.cell));
    addRows($("rates"), peers.map(peer => row(peer, ...rates.map(r => {
      const rate = r.get(peer) ?? 0, base = ratios ? r.get(reference) ?? 0 : 1;
      return rate > 0 && base > 0 ? number(short(rate / base)) : cell(NONE);
    }))));
  }

  function showMachine() {
    const facts = {...data.machine, made: data.made, took: `${data.seconds.toFixed(0)} s`, effort: data.effort};
    addRows($("made-on"), Object.entries(facts).map(([name, value]) => row(name, cell(words(value)))));
    save(linkTo("kgate-report.json"), "application/json", source);
  }

  showObservations();
  showConditions();
  RUNS.forEach(showRun);
  showCosts();
  showScale();
  showCatalogue();
  showRemoteReferences();
  showSpace();
  showBench();
  showMachine();
})();
