// Steps through an algorithm by hand. The page carries every state: the values of the variables and where each process stands, which
// step leads where, and what can still break; so choosing is looking up.
(() => {
  const data = JSON.parse($("embedded-steps").textContent);
  const FATES = [["cannot break", "cannot"], ["can break", "can"], ["broken", "broken"]];
  const V = data.variables.length;
  const markText = data.text ? textPanel($("text"), data.text) : () => {};
  let past = [];  // what was done: {state, process, choice} or {crash}
  let state = 0;
  let crashed = [];

  const local = p => data.locals[p][data.states[state][V + p]];
  const valueOf = (s, v) => data.variables[v].values[data.states[s][v]];
  const next = p => crashed.includes(p) ? [] : data.next[state][p];
  const mask = () => crashed.reduce((all, p) => all | (1 << p), 0);
  const fate = i => FATES[Number(data.fates[mask()][i][state])];
  const schedule = () => past.filter(one => !("crash" in one)).map(one => one.choice ? `${one.process}?${one.choice}` : String(one.process));

  /** The property that the run shows to be broken; else the first, of which replay then says that it is not. */
  function property() {
    const broken = data.properties.findIndex((_, i) => fate(i)[1] === "broken");
    return data.properties[Math.max(0, broken)];
  }
  const numbers = () => past.filter(one => !("crash" in one)).map(one => one.process + 256 * one.choice);

  function trace() {
    return {format: "kgate-trace", version: 1, algorithm: data.algorithm, N: data.N, k: data.k, passages: data.passages, memory: data.memory,
      mutations: data.mutations, property: property(), what: `${property()} is violated, in a run made by hand`, schedule: numbers(), loop: -1,
      victim: -1, crashed};
  }

  function replay() {
    const mutations = data.mutations.map(m => ` --mutate ${m}`).join("");
    return `kgate-lab replay --algorithm ${data.algorithm} -N ${data.N} -k ${data.k}` + (data.passages ? ` --passages ${data.passages}` : "") +
      (data.memory === "safe" ? " --memory safe" : "") + mutations + ` --property ${property()}` +
      (crashed.length ? ` --crashed ${crashed.join(",")}` : "") + ` --schedule ${schedule().join(",") || "''"}`;
  }

  function place(l) {
    if (l.done) return "all passages made";
    return `${l.label}: ${l.operation}` + (l.variable < 0 ? "" : ` ${data.variables[l.variable].name}`);
  }

  function button(text, title, action, disabled) {
    const b = element("button", text);
    b.title = title;
    b.disabled = disabled;
    b.onclick = action;
    return b;
  }

  function showProcesses() {
    const rows = [];
    for (let p = 0; p < data.N; ++p) {
      const l = local(p), ways = next(p), dead = crashed.includes(p);
      const name = element("th", `p${p}`);
      name.scope = "row";
      const buttons = ways.length > 1 ? ways.map((_, c) => button(`step ${c}`, `p${p} steps, choice ${c}`, () => step(p, c), false))
        : [button("step", `p${p} steps`, () => step(p, 0), ways.length === 0)];
      buttons.forEach((b, c) => { b.id = `step-${p}` + (c ? `-${c}` : ""); });
      const stop = button("crash", `p${p} never steps again`, () => crash(p), dead || l.done);
      stop.id = `crash-${p}`;
      const region = l.region === "entry" && data.doorways && !l.past_doorway ? "doorway" : l.region;
      rows.push(element("tr", [name, element("td", element("span", dead ? "crashed" : region, `tag ${region}`)),
        element("td", place(l) + (ways.length === 0 && !dead && !l.done ? " (waits)" : ""), "place"), element("td", buttons), element("td", stop)]));
    }
    document.querySelector("#processes tbody").replaceChildren(...rows);
  }

  function showProperties() {
    const rows = data.properties.map((name, i) => {
      const [text, kind] = fate(i), th = element("th", name);
      th.scope = "row";
      return element("tr", [th, element("td", text, kind)]);
    });
    document.querySelector("#properties tbody").replaceChildren(...rows);
  }

  function showVariables() {
    const last = past[past.length - 1];
    const before = last && !("crash" in last) ? last.state : state;
    const rows = data.variables.map((v, i) => {
      const th = element("th", v.name), changed = valueOf(state, i) !== valueOf(before, i);
      th.scope = "row";
      return element("tr", [th, element("td", valueOf(state, i)), element("td", changed ? `was ${valueOf(before, i)}` : "")], changed ? "changed" : "");
    });
    document.querySelector("#variables tbody").replaceChildren(...rows);
  }

  const describe = one => "crash" in one ? `p${one.crash} crashes` : one.text;

  function show() {
    const last = past[past.length - 1];
    $("now").replaceChildren(element("strong", last ? describe(last) : "The initial state."), ` ${property() && fate(data.properties.indexOf(property()))[1] === "broken" ? property() + " is broken." : ""}`);
    $("count").textContent = `${past.length} ${past.length === 1 ? "step" : "steps"}`;
    showProcesses();
    showProperties();
    showVariables();
    markText(data.locals.map((_, p) => crashed.includes(p) || local(p).done ? undefined : local(p).label));
    $("run").replaceChildren(...past.map(one => element("li", describe(one))));
    $("run").scrollTop = $("run").scrollHeight;
    $("replay").textContent = replay();
    $("undo").disabled = $("reset").disabled = past.length === 0;
    document.body.dataset.state = state;
    document.body.dataset.steps = past.length;
  }

  function step(p, choice) {
    const to = next(p)[choice];
    if (to === undefined) return;
    const l = local(p), was = l.variable < 0 ? "" : valueOf(state, l.variable), is = l.variable < 0 ? "" : valueOf(to, l.variable);
    const access = l.variable < 0 ? "" : `: ${was}` + (was === is ? "" : ` → ${is}`);
    past.push({state, process: p, choice, text: `p${p} ${place(l)}${access}`});
    state = to;
    show();
  }

  function crash(p) {
    if (crashed.includes(p)) return;
    past.push({crash: p, state});
    crashed.push(p);
    show();
  }

  function undo() {
    const last = past.pop();
    if (!last) return;
    if ("crash" in last) crashed = crashed.filter(p => p !== last.crash);
    state = last.state;
    show();
  }

  function reset() {
    past = [];
    crashed = [];
    state = 0;
    show();
  }

  function save() {
    const link = element("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(trace(), null, 2) + "\n"], {type: "application/json"}));
    link.download = "run.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  $("undo").onclick = undo;
  $("reset").onclick = reset;
  $("save").onclick = save;
  document.addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const p = e.key >= "0" && e.key <= "9" ? Number(e.key) : -1;
    if (p >= 0 && p < data.N) step(p, 0);
    else if (e.key === "u" || e.key === "Backspace") undo();
    else if (e.key === "r") reset();
    else if (e.key === "s") save();
    else return;
    e.preventDefault();
  });

  $("title").textContent = `${data.algorithm}, N = ${data.N}, k = ${data.k}`;
  $("what").textContent = `Choose who steps. ${data.states.length} states` +
    (data.passages ? `, ${data.passages} passage${data.passages === 1 ? "" : "s"} of each process` : ", passages without limit") +
    (data.mutations.length ? `, with the error ${data.mutations.join(", ")} made on purpose` : "") + ". Nothing leaves this page.";
  show();
})();
