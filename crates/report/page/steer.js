/* Steering the schedule: buttons, mouse, touch, keyboard; what is under the pointer. */

const Steer = (() => {
  const { model, below } = Data;
  const KEYS = [
    ['← →', 'move'], ['+ −', 'zoom'], ['0', 'whole run'], ['↑ ↓', 'choose a row'],
    ['n p', 'next, previous job of the row'], ['i I', 'next, previous incident'], ['Esc', 'let go'],
  ];
  let jobAt = -1;

  /* ---- what is at a place ---------------------------------------------------------------------- */

  function find(place) {
    const i = Math.floor(place.below / Gantt.pitch());
    const row = Gantt.rows[i];
    if (!row || place.y < Gantt.header() || place.x < (Gantt.gutter() > 20 ? Gantt.gutter() : 0)) return null;
    const at = Gantt.atOf(place.x), slack = 3 / (Gantt.sheet.width / (Gantt.view.to - Gantt.view.from));
    const { slices, marks, jobs } = row.lane;
    let best = null;
    for (let m = below(marks.at, marks.count, at - 2 * slack); m < marks.count && marks.at[m] <= at + 2 * slack; m++) best = { mark: m, job: marks.job[m] };
    for (let s = below(slices.to, slices.count, at - slack); !best?.slice && s < slices.count && slices.earliest[s] <= at + slack; s++) {
      if (slices.from[s] <= at + slack && slices.to[s] >= at - slack) best = { ...best, slice: s, job: best?.job ?? slices.job[s] };
    }
    if (!best) {
      const job = below(jobs.release, jobs.count, at + slack, true) - 1;
      best = { job };
    }
    return { row, at, ...best };
  }

  /** An instant with every digit. */
  function instant(row, at) {
    return Text.exact(row.trace.start + BigInt(Math.round(at)));
  }

  function modeAt(row, at) {
    const modes = row.trace.modes[row.lane.domain];
    return modes.level[Math.max(0, below(modes.at, modes.count, at, true) - 1)];
  }

  function describe(found) {
    const { row, job } = found;
    const task = model.tasks[row.task];
    const { lane } = row;
    const title = `${task.name}${job >= 0 ? ` #${Data.jobNumber(lane, job)}` : ''} · ${row.run.label}`;
    const lines = [];
    if (found.slice !== undefined) {
      const { slices } = lane, s = found.slice;
      lines.push(`runs ${instant(row, slices.from[s])} to ${instant(row, slices.to[s])} (${Text.exact(slices.to[s] - slices.from[s])})${row.trace.cpus > 1 ? ` on CPU ${slices.cpu[s]}` : ''}, then ${Data.ENDINGS[slices.why[s]]}`);
    }
    if (job >= 0) {
      const { jobs } = lane, release = jobs.release[job];
      lines.push(`arrives ${instant(row, release)}${lane.deadline ? `, due ${instant(row, release + lane.deadline)}` : ''}`);
      lines.push(jobs.response[job] >= 0 ? `response ${Text.exact(jobs.response[job])}${lane.deadline ? ` of ${Text.exact(lane.deadline)}` : ''}` : 'not completed');
      const what = [[Data.OVERRAN, 'used up a limit'], [Data.DROPPED, 'dropped'], [Data.MISSED, 'missed its deadline']].filter(([flag]) => jobs.flags[job] & flag).map(([, word]) => word);
      if (what.length) lines.push(what.join(', '));
    }
    const mode = modeAt(row, found.at);
    if (mode) lines.push(`mode ${Draw.levelName(mode)}`);
    return { title, lines };
  }

  function hover(event) {
    const found = find(Gantt.sheet.place(event));
    Gantt.hovered = found;
    if (!found || (found.job < 0 && found.slice === undefined)) return Tooltip.hide();
    const { title, lines } = describe(found);
    Tooltip.show(event, title, lines);
  }

  /* ---- pointer --------------------------------------------------------------------------------- */

  function pointer(node) {
    const down = new Map();
    let moved = false, pinch = null;
    const middle = () => { const [a, b] = [...down.values()]; return { x: (a.x + b.x) / 2, distance: Math.max(20, Math.hypot(a.x - b.x, a.y - b.y)) }; };
    node.addEventListener('pointerdown', (event) => {
      if (event.button) return;
      const place = Gantt.sheet.place(event);
      if (place.x > Gantt.sheet.width) return;
      down.set(event.pointerId, { x: place.x, y: place.y });
      moved = false;
      try { node.setPointerCapture(event.pointerId); } catch { /* the pointer is gone already */ }
      if (down.size === 2) pinch = { ...middle(), from: Gantt.view.from, to: Gantt.view.to };
    });
    node.addEventListener('pointermove', (event) => {
      const known = down.get(event.pointerId);
      if (!known) { if (event.pointerType === 'mouse') hover(event); return; }
      const place = Gantt.sheet.place(event);
      const dx = place.x - known.x;
      if (!moved && Math.abs(dx) + Math.abs(place.y - known.y) < 3) return;
      moved = true;
      Tooltip.hide();
      node.classList.add('panning');
      Object.assign(known, { x: place.x, y: place.y });
      const width = Gantt.sheet.width - Gantt.gutter() - 8;
      if (down.size === 1) { Gantt.pan(-dx / width); return; }
      const now = middle();
      const span = (pinch.to - pinch.from) * pinch.distance / now.distance;
      const anchor = pinch.from + (pinch.x - Gantt.gutter()) / width * (pinch.to - pinch.from);
      const from = anchor - (now.x - Gantt.gutter()) / width * span;
      Gantt.look(from, from + span);
    });
    const release = (event) => {
      if (!down.delete(event.pointerId)) return;
      node.classList.remove('panning');
      pinch = null;
      if (!moved && event.type === 'pointerup') pick(event);
    };
    node.addEventListener('pointerup', release);
    node.addEventListener('pointercancel', release);
    node.addEventListener('pointerleave', () => Tooltip.hide());
    node.addEventListener('dblclick', (event) => Gantt.zoom(0.25, Gantt.atOf(Gantt.sheet.place(event).x)));
    node.addEventListener('wheel', (event) => {
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
      if (sideways) { event.preventDefault(); Gantt.pan((event.deltaX || event.deltaY) / 800); return; }
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      Gantt.zoom(Math.exp(Math.max(-120, Math.min(120, event.deltaY)) / 240), Gantt.atOf(Gantt.sheet.place(event).x));
    }, { passive: false });
  }

  function pick(event) {
    const found = find(Gantt.sheet.place(event));
    if (!found) return;
    Gantt.selected = found.row;
    jobAt = found.job;
    tell(found);
    if (event.pointerType !== 'mouse') hover(event);
    Gantt.sheet.invalidate();
  }

  function tell(found) {
    const { title, lines } = describe(found);
    Gantt.say(`${title}: ${lines.join('; ')}`);
  }

  /* ---- keyboard and buttons -------------------------------------------------------------------- */

  function chooseRow(step) {
    const { rows, selected } = Gantt;
    if (!rows.length) return;
    const now = rows.findIndex((row) => selected && row.task === selected.task && row.run === selected.run);
    const next = Math.min(rows.length - 1, Math.max(0, now < 0 ? 0 : now + step));
    Gantt.selected = rows[next];
    jobAt = -1;
    Gantt.sheet.reveal(next * Gantt.pitch(), (next + 1) * Gantt.pitch());
    Gantt.say(`${model.tasks[rows[next].task].name}, ${rows[next].run.label}: ${Text.plural(rows[next].lane.jobs.count, 'job')}`);
    Gantt.sheet.invalidate();
  }

  function chooseJob(step) {
    if (!Gantt.selected) chooseRow(0);
    const row = Gantt.selected;
    if (!row || !row.lane.jobs.count) return;
    const { jobs } = row.lane;
    const middle = (Gantt.view.from + Gantt.view.to) / 2;
    if (jobAt < 0) jobAt = below(jobs.release, jobs.count, middle) - (step > 0 ? 1 : 0);
    jobAt = Math.min(jobs.count - 1, Math.max(0, jobAt + step));
    centre(jobs.release[jobAt]);
    tell({ row, job: jobAt, at: jobs.release[jobAt] });
  }

  function centre(at) {
    const half = (Gantt.view.to - Gantt.view.from) / 2;
    Gantt.look(at - half, at + half);
  }

  /** The next rise of the mode, drop or miss of the runs that are shown. */
  function incident(step) {
    const middle = (Gantt.view.from + Gantt.view.to) / 2;
    const slack = (Gantt.view.to - Gantt.view.from) / 1000;
    let best = null;
    const offer = (at, text) => {
      if (step > 0 ? at <= middle + slack : at >= middle - slack) return;
      if (best === null || (step > 0 ? at < best.at : at > best.at)) best = { at, text };
    };
    for (const { trace, run } of Gantt.runs) {
      for (const modes of trace.modes) {
        const where = modes.name ? ` in ${modes.name}` : '';
        for (let i = 1; i < modes.count; i++) if (modes.level[i] > modes.level[i - 1]) offer(modes.at[i], `${run.label}: mode ${Draw.levelName(modes.level[i])}${where}`);
      }
    }
    for (const row of Gantt.rows) {
      const { marks } = row.lane;
      const name = model.tasks[row.task].name;
      for (let i = 0; i < marks.count; i++) if (marks.kind[i] !== Data.OVERRAN) offer(marks.at[i], `${row.run.label}: a job of ${name} ${marks.kind[i] === Data.MISSED ? 'misses its deadline' : 'is dropped'}`);
    }
    if (!best) { Gantt.say(step > 0 ? 'No incident after this.' : 'No incident before this.'); return; }
    const span = Math.min(Gantt.view.to - Gantt.view.from, Math.max(Gantt.end / 50, Gantt.least));
    Gantt.look(best.at - span / 2, best.at + span / 2);
    Gantt.say(`${best.text} at ${Text.exact(BigInt(Math.round(best.at)) + Gantt.runs[0].trace.start)}`);
  }

  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = {
      ArrowLeft: () => Gantt.pan(-0.15), ArrowRight: () => Gantt.pan(0.15), ArrowUp: () => chooseRow(-1), ArrowDown: () => chooseRow(1),
      '+': () => Gantt.zoom(0.6), '=': () => Gantt.zoom(0.6), '-': () => Gantt.zoom(1 / 0.6), '0': () => Gantt.fit(), Home: () => Gantt.fit(),
      n: () => chooseJob(1), p: () => chooseJob(-1), i: () => incident(1), I: () => incident(-1),
      Escape: () => { Gantt.selected = null; jobAt = -1; Tooltip.hide(); Gantt.say(''); Gantt.sheet.invalidate(); },
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** The strip of the whole run: press or drag to move the window there. */
  function strip(node) {
    const go = (event) => {
      const { x } = Gantt.overview.place(event);
      centre((x - Gantt.gutter()) / (Gantt.overview.width - Gantt.gutter() - 8) * Gantt.end);
    };
    let held = false;
    node.addEventListener('pointerdown', (event) => { held = true; node.setPointerCapture(event.pointerId); go(event); });
    node.addEventListener('pointermove', (event) => { if (held) go(event); });
    for (const type of ['pointerup', 'pointercancel']) node.addEventListener(type, () => { held = false; });
  }

  function legend() {
    const { levels } = model;
    const items = levels.map((name, level) => [Draw.swatch(26, 14, (ctx, ratio) => Draw.box(ctx, level, ratio, 0, 0, 26, 14)), `executes, ${name}`]);
    const ink = (ctx) => { const p = Draw.palette(); ctx.strokeStyle = p.ink; ctx.fillStyle = p.ink; ctx.lineWidth = 1.3; };
    const grey = (ctx) => { const p = Draw.palette(); ctx.strokeStyle = p.muted; ctx.fillStyle = p.muted; ctx.lineWidth = 1.3; };
    items.push([Draw.swatch(10, 18, (ctx) => { ink(ctx); Draw.up(ctx, 5, 17, 16); }), 'arrival']);
    items.push([Draw.swatch(18, 18, (ctx) => { grey(ctx); Draw.down(ctx, 5, 17, 16, 12); }), 'deadline (stands aside at an arrival)']);
    items.push([Draw.swatch(14, 14, (ctx) => Draw.mark(ctx, Data.OVERRAN, 7, 7)), 'used up a limit']);
    items.push([Draw.swatch(12, 14, (ctx) => Draw.mark(ctx, Data.DROPPED, 6, 7)), 'dropped']);
    items.push([Draw.swatch(14, 14, (ctx) => Draw.mark(ctx, Data.MISSED, 7, 7)), 'deadline missed']);
    items.push([Draw.swatch(26, 14, (ctx) => { ctx.globalAlpha = 0.6; ctx.fillStyle = Draw.palette().raised; ctx.fillRect(0, 0, 26, 14); }), 'mode is raised']);
    if (Gantt.drawn.some(({ trace }) => trace.rows.some(({ ghosts }) => ghosts.count))) items.push([Draw.swatch(26, 14, (ctx) => { ctx.strokeStyle = Draw.palette().muted; ctx.setLineDash([3, 2]); ctx.strokeRect(.5, .5, 25, 13); }), 'a ghost uses up what jobs left of their budget']);
    if (Gantt.drawn.some(({ trace }) => trace.gaps.length)) items.push([Draw.swatch(14, 14, (ctx) => { ctx.fillStyle = Draw.palette().faint; ctx.fillRect(0, 8, 14, 3); }), 'something else had the CPU']);
    return el('ul', { class: 'legend' }, items.map(([picture, text]) => el('li', {}, picture, text)));
  }

  function build(body) {
    if (!Gantt.drawn.length) {
      body.append(el('p', { class: 'notice' }, 'No trace was given, so there is no schedule to draw. Let ', el('code', {}, 'vestal simulate … --trace run.vtrace'), ' write one, and name it beside the results.'));
      return;
    }
    const several = Gantt.drawn.length > 1;
    const button = (text, title, act) => el('button', { type: 'button', title, 'aria-label': title, onclick: act }, text);
    const select = el('select', { id: 'gantt-run', onchange: (event) => Gantt.choose(event.target.value) },
      Gantt.drawn.map(({ run }, i) => el('option', { value: i }, run.title)), several && el('option', { value: 'all' }, 'all, side by side'));
    body.append(el('div', { class: 'controls' },
      el('label', {}, 'Run ', select),
      el('span', { class: 'group' }, button('−', 'zoom out', () => Gantt.zoom(2)), button('+', 'zoom in', () => Gantt.zoom(0.5)), button('Fit', 'whole run', () => Gantt.fit())),
      el('span', { class: 'group' }, button('◀', 'move left', () => Gantt.pan(-0.3)), button('▶', 'move right', () => Gantt.pan(0.3))),
      el('span', { class: 'group' }, button('◀ incident', 'previous mode change, drop or miss', () => incident(-1)), button('incident ▶', 'next mode change, drop or miss', () => incident(1)))));
    const sheet = new Sheet({ label: 'Schedule; arrow keys move and choose rows, plus and minus zoom', header: 40, pan: true,
      content: () => Math.max(1, Gantt.rows.length) * Gantt.pitch(), most: () => Math.min(Gantt.MOST, Math.max(300, innerHeight * 0.72)), draw: Gantt.draw });
    const overview = new Sheet({ label: 'The whole run; press to go there', header: 0, content: () => 16 + 14 * Gantt.runs.length, most: 120, draw: Gantt.drawOverview });
    overview.node.style.marginTop = '6px';
    overview.node.tabIndex = -1;
    const status = el('p', { class: 'status', 'aria-live': 'polite' });
    Gantt.attach(sheet, overview, status);
    body.append(sheet.node, overview.node, status, legend());
    for (const { run, trace } of Gantt.drawn) {
      if (trace.cut !== null) body.append(el('p', { class: 'notice warn' }, `${run.title}: drawn up to ${Text.short(trace.cut)}, because more happened than a page holds. The figures are of the whole run.`));
      if (Number(trace.lost)) body.append(el('p', { class: 'notice warn' }, `${run.title}: ${Text.plural(trace.lost, 'record')} were lost while it was recorded.`));
      if (trace.unseen) body.append(el('p', { class: 'notice' }, `${run.title}: tasks ran on ${trace.unseen} CPUs, too many for a lane each; what runs where stands in the boxes.`));
      if (trace.tick > 1) body.append(el('p', { class: 'notice' }, `${run.title}: instants are rounded down to ${trace.tick} ns.`));
      if (trace.start > 0n) body.append(el('p', { class: 'note' }, `${run.title}: the left end is ${Text.exact(trace.start)}; the axis counts from there.`));
    }
    body.append(el('details', {}, el('summary', {}, 'Keys and gestures'),
      el('p', {}, 'Drag to move, pinch or Ctrl + wheel to zoom, double-click to zoom in. With the schedule in focus: ', KEYS.flatMap(([keys, what]) => [el('kbd', {}, keys), ` ${what}  `]))));
    pointer(sheet.node);
    strip(overview.node);
    sheet.node.addEventListener('keydown', key);
    Filter.onChange(() => Gantt.arrange());
    Gantt.choose(several ? 'all' : 0);
    select.value = several ? 'all' : '0';
  }

  return { build, find, describe, instant };
})();
