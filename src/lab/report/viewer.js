// The trace viewer. A position s in 0..n means that s steps are done. Only the columns around it exist in the page, so a
// trace of any length costs the same to step; what is needed at a position is found without running the trace again.
(() => {
  const COLUMNS_MAX = 61;
  const PROCESSES_MAX = 256;
  const CELLS_MAX = 100_000_000;  // a byte each
  const REGIONS = ["remainder", "entry", "doorway", "critical", "exit"];
  let run = null;
  let at = 0;
  let markText = null;

  class Malformed extends Error {}
  const need = (condition, message) => { if (!condition) throw new Malformed(message); };
  const whole = (n, low, high) => Number.isInteger(n) && n >= low && n <= high;

  /** Checks a parsed trace and prepares it for random access. Throws Malformed with one sentence for the reader. */
  function prepare(t) {
    need(t && typeof t === "object" && !Array.isArray(t), "This is not a trace: a JSON object is needed.");
    need(t.format === "kgate-trace", 'This is not a trace: the field "format" must be "kgate-trace".');
    need(t.version === 1, "This trace is of another version: only version 1 is read.");
    need(whole(t.N, 1, 65535) && whole(t.k, 1, 65535), 'The trace is malformed: "N" and "k" must be whole numbers from 1 on.');
    need(t.N <= PROCESSES_MAX, `This trace has ${t.N} processes; at most ${PROCESSES_MAX} can be shown.`);
    need(Array.isArray(t.steps) && Array.isArray(t.variables),
      "This trace has no steps to show; kgate-lab replay FILE --json writes it again with them.");
    const n = t.steps.length;
    need((n + 1) * t.N <= CELLS_MAX, `This trace is too long to be shown: ${n} steps of ${t.N} processes.`);
    const loop = t.loop === undefined ? -1 : t.loop;
    need(whole(loop, -1, n), `The trace is malformed: "loop" must be between -1 and ${n}.`);
    const processes = (list, where) => need(Array.isArray(list) && list.every(p => whole(p, 0, t.N - 1)),
      `The trace is malformed: ${where} must be a list of processes from 0 to ${t.N - 1}.`);
    processes(t.enabled, '"enabled"');
    processes(t.crashed || [], '"crashed"');
    need(t.mutations === undefined || Array.isArray(t.mutations), 'The trace is malformed: "mutations" must be a list.');
    const history = new Map();
    for (const v of t.variables) {
      need(v && typeof v.name === "string" && v.initial !== undefined, "The trace is malformed: each variable needs a name and an initial value.");
      history.set(v.name, {name: v.name, steps: [0], values: [String(v.initial)]});
    }
    const doors = t.steps.some(s => s && s.past_doorway === true);
    const regions = new Uint8Array((n + 1) * t.N);
    t.steps.forEach((s, i) => {
      const here = `step ${i + 1}`;
      need(s && typeof s === "object", `The trace is malformed: ${here} is not an object.`);
      need(whole(s.process, 0, t.N - 1), `The trace is malformed: ${here} names process ${s.process}; allowed are 0 to ${t.N - 1}.`);
      const region = REGIONS.indexOf(s.after === "entry" && doors && !s.past_doorway ? "doorway" : s.after);
      need(region >= 0, `The trace is malformed: ${here} ends in the unknown region "${s.after}".`);
      processes(s.enabled, `"enabled" of ${here}`);
      regions.copyWithin((i + 1) * t.N, i * t.N, (i + 1) * t.N);
      regions[(i + 1) * t.N + s.process] = region;
      if (s.written !== undefined) {
        const v = history.get(s.variable);
        need(v, `The trace is malformed: ${here} writes the unknown variable "${s.variable}".`);
        v.steps.push(i + 1);
        v.values.push(String(s.written));
      }
    });
    const text = t.text || [];
    need(Array.isArray(text) && text.every(one => one && typeof one.text === "string" && Array.isArray(one.labels)),
      'The trace is malformed: "text" must be a list of texts with their labels.');
    return {...t, n, loop, crashed: t.crashed || [], regions, history: [...history.values()], text, places: places(t)};
  }

  /** For each process the steps at which the label it stands at changes, and the labels; nothing for traces that do not say. */
  function places(t) {
    if (!Array.isArray(t.at) || t.at.length !== t.N) return [];
    const all = t.at.map(label => ({steps: [0], values: [String(label)]}));
    t.steps.forEach((s, i) => {
      all[s.process].steps.push(i + 1);
      all[s.process].values.push(String(s.at));
    });
    return all;
  }

  /** The value of a variable when s steps are done. */
  function value(v, s) {
    let low = 0, high = v.steps.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (v.steps[middle] <= s) low = middle; else high = middle - 1;
    }
    return v.values[low];
  }
  const region = (p, s) => REGIONS[run.regions[s * run.N + p]];
  const enabled = s => s === 0 ? run.enabled : run.steps[s - 1].enabled;
  const crashed = (p, s) => run.crashed.includes(p) && s >= (run.loop >= 0 ? run.loop : run.n);
  /** Where to look first: the end of a finite run, the start of what repeats for ever. */
  const violation = () => run.loop >= 0 ? run.loop : run.n;

  const list = who => who.length ? who.map(p => "p" + p).join(", ") : "nobody";

  function showNow() {
    const now = $("now");
    now.replaceChildren();
    let head = `Step 0 of ${run.n}: the initial state.`, more = "";
    if (at > 0) {
      const s = run.steps[at - 1];
      head = `Step ${at} of ${run.n}: p${s.process}` + (s.label ? ` at ${s.label}.` : ".");
      const access = s.variable ? `${s.operation} ${s.variable}: observed ${s.observed}` + (s.written !== undefined ? `, wrote ${s.written}` : "") : s.operation || "";
      const regions = s.before === s.after ? `in its ${s.after}` : `from ${s.before} to ${s.after}`;
      more = (access && access !== "none" ? access + "; " : "") + regions + ". ";
    }
    more += `Can step: ${list(enabled(at))}.`;
    if (run.loop >= 0 && at >= run.loop) more += at === run.loop ? " From here on the steps repeat for ever." : ` Steps ${run.loop + 1} to ${run.n} repeat for ever.`;
    if (run.crashed.some(p => crashed(p, at))) more += ` Crashed: ${list(run.crashed)}.`;
    if (at === violation() && run.what) more += ` ${run.property}: ${run.what}.`;
    now.append(element("strong", head), " ", document.createElement("br"), more);
  }

  function columns() {
    const room = Math.floor(($("lanes").parentElement.clientWidth - 225) / 47);
    const count = Math.max(7, Math.min(COLUMNS_MAX, room));
    const first = Math.max(0, Math.min(at - (count >> 1), run.n - count + 1));
    return [first, Math.min(run.n, first + count - 1)];
  }

  function showLanes() {
    const [first, last] = columns();
    const head = element("tr");
    head.append(element("th", "process"));
    for (let s = first; s <= last; ++s) {
      const th = element("th", s === run.loop ? `↻${s}` : String(s), "step" + (s === at ? " current" : ""));
      th.scope = "col";
      th.dataset.step = s;
      head.append(th);
    }
    const can = new Set(enabled(at));
    const rows = [];
    for (let p = 0; p < run.N; ++p) {
      const row = element("tr");
      const name = element("th", `p${p} `);
      name.scope = "row";
      name.append(element("span", region(p, at), "tag " + region(p, at)));
      if (crashed(p, at)) name.append(" ", element("span", "crashed", "tag violated"));
      else if (can.has(p)) name.append(" ", element("span", "can step", "tag able"));
      if (p === run.victim) name.append(" ", element("span", "victim", "tag violated"));
      row.append(name);
      for (let s = first; s <= last; ++s) {
        const mine = s > 0 && run.steps[s - 1].process === p;
        const td = element("td", mine ? run.steps[s - 1].label || "·" : "",
          region(p, s) + (mine ? " step" : "") + (s === at ? " current" : "") + (s > at ? " later" : "") + (crashed(p, s) ? " crashed" : ""));
        td.dataset.step = s;
        row.append(td);
      }
      rows.push(row);
    }
    document.querySelector("#lanes thead").replaceChildren(head);
    document.querySelector("#lanes tbody").replaceChildren(...rows);
  }

  function showVariables() {
    const s = at > 0 ? run.steps[at - 1] : {};
    const rows = run.history.map(v => {
      const now = value(v, at), before = value(v, Math.max(0, at - 1));
      const row = element("tr", undefined, (now !== before ? "changed" : "") + (v.name === s.variable ? " looked" : ""));
      const name = element("th", v.name);
      name.scope = "row";
      row.append(name, element("td", now), element("td", now !== before ? before : ""));
      return row;
    });
    document.querySelector("#variables tbody").replaceChildren(...rows);
  }

  function showText() {
    if (markText) markText(run.places.map(v => value(v, at)));
  }

  function go(s) {
    if (!run) return;
    at = Math.max(0, Math.min(run.n, Math.trunc(s) || 0));
    showNow();
    showLanes();
    showVariables();
    showText();
    $("slider").value = at;
    $("number").value = at;
    $("first").disabled = $("back").disabled = at === 0;
    $("last").disabled = $("forward").disabled = at === run.n;
    document.body.dataset.step = at;
  }

  /** Shows the trace in `text`, or says what is wrong with it and leaves the page as it was. */
  function open(text, name) {
    try {
      let parsed;
      try {
        parsed = JSON.parse(text);
      } catch (e) {
        throw new Malformed(`This is not a trace: ${e.message}`);
      }
      run = prepare(parsed);
      at = 0;
    } catch (e) {
      if (!(e instanceof Malformed)) throw e;
      $("problem").textContent = (name ? name + ": " : "") + e.message;
      return;
    }
    $("problem").textContent = "";
    $("title").textContent = `${run.algorithm}, N = ${run.N}, k = ${run.k}`;
    $("what").textContent = `${run.property} is violated: ${run.what}` +
      ((run.mutations || []).length ? ` (with the error ${run.mutations.join(", ")} made on purpose)` : "");
    if (/^[^.]*does not show/.test(run.what || "")) $("what").textContent = run.what;
    $("replay").textContent = run.replay || "kgate-lab replay FILE";
    $("count").textContent = run.n;
    $("slider").max = $("number").max = run.n;
    $("viewer").hidden = false;
    $("text-section").hidden = run.text.length === 0;
    markText = run.text.length ? textPanel($("text"), run.text) : null;
    go(0);
  }

  function sameProcess(direction) {
    if (at === 0) return go(direction > 0 ? 1 : 0);
    const p = run.steps[at - 1].process;
    for (let s = at + direction; s >= 1 && s <= run.n; s += direction)
      if (run.steps[s - 1].process === p) return go(s);
  }

  const keys = {
    ArrowRight: () => go(at + 1), ArrowLeft: () => go(at - 1), PageDown: () => go(at + 10), PageUp: () => go(at - 10),
    Home: () => go(0), End: () => go(run.n), v: () => go(violation()), "]": () => sameProcess(1), "[": () => sameProcess(-1),
  };
  document.addEventListener("keydown", e => {
    if (!run || e.ctrlKey || e.metaKey || e.altKey || e.target.tagName === "INPUT" || !(e.key in keys)) return;
    e.preventDefault();
    keys[e.key]();
  });
  $("first").onclick = () => go(0);
  $("back").onclick = () => go(at - 1);
  $("forward").onclick = () => go(at + 1);
  $("last").onclick = () => go(run.n);
  $("violation").onclick = () => go(violation());
  $("slider").oninput = e => go(Number(e.target.value));
  $("number").onchange = e => go(Number(e.target.value));
  $("lanes").onclick = e => { const cell = e.target.closest("[data-step]"); if (cell) go(Number(cell.dataset.step)); };
  window.addEventListener("resize", () => { if (run) showLanes(); });

  const read = file => file.text().then(text => open(text, file.name),
    e => { $("problem").textContent = `${file.name} cannot be read: ${e.message}`; });
  $("file").onchange = e => { if (e.target.files.length) read(e.target.files[0]); };
  document.addEventListener("dragover", e => { e.preventDefault(); $("drop").classList.add("over"); });
  document.addEventListener("dragleave", () => $("drop").classList.remove("over"));
  document.addEventListener("drop", e => {
    e.preventDefault();
    $("drop").classList.remove("over");
    if (e.dataTransfer.files.length) read(e.dataTransfer.files[0]);
  });

  const embedded = $("embedded-trace");
  if (embedded) open(embedded.textContent, "");
})();
