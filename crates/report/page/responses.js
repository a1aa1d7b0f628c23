/* Response times: what was simulated and measured beside what was proved. One line for each task, on an
   axis that all share; the chosen task in full below. */

const Responses = (() => {
  const { model } = Data;
  const LANE = 17, PAD = 9;
  let sheet = null, detail = null, title = null, chosen = null, relative = true, test = null;

  const tests = model.analyses.filter((one) => one.tasks.some((task) => task && task.response.some(([, value]) => value !== null)));
  const figures = (run, task) => (run.tasks[task] ? run.tasks[task].response_ns : null);
  const distribution = (run, task) => (run.drawn ? run.drawn.rows[task].responses : null);
  const bounds = (task) => (test && test.tasks[task] ? test.tasks[task].response.filter(([, value]) => value !== null).map(([name, value]) => ({ name, level: model.levels.indexOf(name), value: Number(value) })) : []);
  /** Bounds hold for the policy that they were proved for, and for no other run. */
  const holdsFor = (run) => Boolean(test) && run.bounded_by.includes(model.analyses.indexOf(test));
  const holdsForAll = () => model.runs.every(holdsFor);
  const testName = (one) => `${one.test}${one.variant ? `:${one.variant}` : ''}`;
  const unit = (task) => (relative ? Number(model.tasks[task].deadline) : 1);

  /** A test whose bounds are of a policy that ran, if possible the proof of a run; it has to have proved
      something. */
  function suitable() {
    const ran = (one) => model.runs.some((run) => run.bounded_by.includes(model.analyses.indexOf(one)));
    const fits = (one) => (model.runs.length === 0 || ran(one)) && one.verdict === 'schedulable';
    const proofs = new Set(model.runs.map((run) => run.proof));
    return tests.find((one) => fits(one) && proofs.has(testName(one))) || tests.find(fits) || null;
  }

  /* ---- all tasks -------------------------------------------------------------------------------- */

  let axis = { from: 1, to: 10 };

  function range() {
    let from = Infinity, to = 0;
    for (const task of Filter.tasks()) {
      const size = unit(task);
      if (!size) continue;
      const values = bounds(task).map(({ value }) => value);
      for (const run of model.runs) { const f = figures(run, task); if (f) values.push(f.min, f.max); }
      if (model.tasks[task].deadline) values.push(model.tasks[task].deadline);
      for (const value of values) {
        if (value === null || value === undefined || Number(value) <= 0) continue;
        from = Math.min(from, Number(value) / size);
        to = Math.max(to, Number(value) / size);
      }
    }
    if (!(to > 0)) { from = relative ? 0.01 : 1; to = relative ? 1 : 10; }
    axis = { from: Math.log10(from) - 0.08, to: Math.log10(to) + 0.12 };
  }

  const narrow = () => sheet.width < 600;
  const gutter = () => (narrow() ? 10 : Math.min(190, Math.round(sheet.width * 0.2)));
  const pitch = () => Math.max(1, model.runs.length) * LANE + PAD * 2 + (narrow() ? 14 : 0);
  const xOf = (value) => gutter() + (Math.log10(Math.max(value, 1e-12)) - axis.from) / (axis.to - axis.from) * (sheet.width - gutter() - 12);

  function draw(ctx, width, height, scrolled) {
    const p = Draw.palette(), top = sheet.options.header, step = pitch(), left = gutter();
    const tasks = Filter.tasks();
    ctx.save();
    ctx.beginPath(); ctx.rect(0, top, width, height - top); ctx.clip();
    for (let i = Math.max(0, Math.floor(scrolled / step)); i < Math.min(tasks.length, Math.ceil((scrolled + height - top) / step)); i++) {
      const task = tasks[i], y = top + i * step - scrolled;
      if (task === chosen) { ctx.fillStyle = p.stripe; ctx.fillRect(0, y, width, step); }
      ctx.fillStyle = p.grid;
      for (const { at } of decades()) ctx.fillRect(Math.round(xOf(at)), y, 1, step);
      late(ctx, task, y, step, width);
      model.runs.forEach((run, place) => lane(ctx, run, place, task, y + PAD + (narrow() ? 14 : 0) + place * LANE));
      const first = narrow() ? 14 : 0;
      if (holdsForAll()) limits(ctx, task, y + first, step - first);
      else model.runs.forEach((run, place) => { if (holdsFor(run)) limits(ctx, task, y + first + PAD + place * LANE - 4, LANE + 8); });
      name(ctx, task, y, step, left);
      ctx.fillStyle = p.grid; ctx.fillRect(0, y + step - 1, width, 1);
    }
    ctx.restore();
    ctx.fillStyle = p.stripe; ctx.fillRect(0, 0, width, top);
    ctx.font = '11px system-ui, sans-serif'; ctx.textBaseline = 'middle'; ctx.textAlign = 'center'; ctx.fillStyle = p.muted;
    let free = narrow() ? 0 : left - 24;
    for (const { at, label } of decades()) {
      const half = ctx.measureText(label).width / 2;
      const x = Math.min(Math.max(xOf(at), half + 2), width - half - 2);
      if (x - half < free) continue;
      ctx.fillText(label, x, top / 2);
      free = x + half + 8;
    }
    if (!narrow()) { ctx.textAlign = 'left'; ctx.fillText(relative ? 'share of deadline' : 'response time', 12, top / 2); }
    ctx.fillStyle = p.line; ctx.fillRect(0, top - 1, width, 1);
  }

  function decades() {
    const list = [];
    const fine = axis.to - axis.from < 2.2;
    for (let power = Math.floor(axis.from); power <= Math.ceil(axis.to); power++) {
      for (const factor of fine ? [1, 2, 5] : [1]) {
        const at = factor * 10 ** power;
        if (Math.log10(at) >= axis.from && Math.log10(at) <= axis.to) list.push({ at, label: relative ? `${Number((at * 100).toPrecision(3))} %` : Text.short(at) });
      }
    }
    return list;
  }

  /** Beyond the deadline. */
  function late(ctx, task, y, step, width) {
    const { deadline } = model.tasks[task];
    if (!deadline) return;
    const x = xOf(Number(deadline) / unit(task));
    ctx.fillStyle = Draw.palette().bad; ctx.globalAlpha = 0.07; ctx.fillRect(x, y, width - x, step); ctx.globalAlpha = 1;
    ctx.fillStyle = Draw.palette().ink; ctx.fillRect(x - .75, y, 1.5, step);
  }

  /** How the responses of one run spread: bars of the distribution, least to largest, mean and p99. */
  function lane(ctx, run, place, task, y) {
    const f = figures(run, task), size = unit(task);
    if (!f || f.max === null || f.max === undefined || !size) return;
    const colour = Draw.run(place), base = y + LANE - 3;
    ctx.fillStyle = colour;
    const d = distribution(run, task);
    if (d) {
      const most = Math.max(...d.buckets.map(([, count]) => Number(count)));
      ctx.globalAlpha = 0.5;
      for (const [bucket, count] of d.buckets) {
        /* No bucket reaches beyond what was observed. */
        const x0 = xOf(Math.max(Data.bucketFloor(bucket), Number(f.min)) / size), x1 = xOf(Math.min(Data.bucketFloor(bucket + 1), Number(f.max)) / size);
        const tall = Math.max(1.5, (LANE - 5) * Math.sqrt(Number(count) / most));
        ctx.fillRect(x0 - (x1 - x0 < 2 ? 1 : 0), base - tall, Math.max(2, x1 - x0 - 0.3), tall);
      }
      ctx.globalAlpha = 1;
    }
    const [min, mean, p99, max] = [f.min, f.mean, f.p99, f.max].map((value) => (value === null || value === undefined ? null : xOf(Number(value) / size)));
    if (min !== null) ctx.fillRect(min, base - 1, Math.max(1, max - min), 2);
    for (const [x, tall] of [[min, 4], [max, 5]]) if (x !== null) ctx.fillRect(x - 1, base - tall, 2, tall + 4);
    if (p99 !== null) { ctx.beginPath(); ctx.moveTo(p99 - 4, base + 5); ctx.lineTo(p99 + 4, base + 5); ctx.lineTo(p99, base); ctx.fill(); }
    if (mean !== null) { ctx.strokeStyle = Draw.palette().card; ctx.lineWidth = 1.5; ctx.beginPath(); ctx.arc(mean, base, 3.8, 0, 7); ctx.fill(); ctx.stroke(); }
  }

  /** What was proved, a bracket for each level. */
  function limits(ctx, task, y, step) {
    const size = unit(task);
    if (!size) return;
    for (const { level, value } of bounds(task)) {
      const x = xOf(value / size);
      ctx.strokeStyle = ctx.fillStyle = Draw.fill(level < 0 ? null : level); ctx.lineWidth = 2.2;
      ctx.setLineDash(level > 0 ? [4, 2.5] : []);
      ctx.beginPath(); ctx.moveTo(x, y + 4); ctx.lineTo(x, y + step - 4); ctx.stroke();
      ctx.setLineDash([]);
      ctx.beginPath(); ctx.moveTo(x - 5, y + 3); ctx.lineTo(x + 1.1, y + 3); ctx.moveTo(x - 5, y + step - 4); ctx.lineTo(x + 1.1, y + step - 4); ctx.stroke();
    }
  }

  function name(ctx, task, y, step, left) {
    const p = Draw.palette(), { level, deadline } = model.tasks[task];
    ctx.textBaseline = 'middle'; ctx.textAlign = 'left';
    if (narrow()) {
      ctx.font = '600 11.5px system-ui, sans-serif'; ctx.fillStyle = Draw.textColour(level);
      ctx.fillText(Draw.fitted(ctx, `${model.tasks[task].name} · ${Draw.levelName(level)}`, sheet.width - 16), 8, y + 11);
      return;
    }
    ctx.fillStyle = p.card; if (task === chosen) ctx.fillStyle = p.stripe; ctx.fillRect(0, y, left - 8, step - 1);
    ctx.fillStyle = Draw.fill(level); ctx.fillRect(0, y, 4, step - 1);
    ctx.font = '600 13px system-ui, sans-serif'; ctx.fillStyle = p.ink;
    ctx.fillText(Draw.fitted(ctx, model.tasks[task].name, left - 24), 12, y + step / 2 - 7);
    ctx.font = '11px system-ui, sans-serif'; ctx.fillStyle = p.muted;
    ctx.fillText(`${Draw.levelName(level)}${deadline ? ` · D ${Text.short(deadline)}` : ''}`, 12, y + step / 2 + 9);
  }

  /* ---- one task --------------------------------------------------------------------------------- */

  /** The share of jobs whose response is longer, at the begin of each bucket, from 1 down. */
  function exceedance(d) {
    const total = Number(d.count);
    const steps = [];
    let left = total;
    for (const [bucket, count] of d.buckets) {
      steps.push({ at: Data.bucketFloor(bucket), share: left / total });
      left -= Number(count);
    }
    return { steps, total };
  }

  let plot = null;

  function drawDetail(ctx, width, height) {
    if (chosen === null) return;
    const p = Draw.palette(), left = 52, right = 14, top = 30, bottom = 34;
    const curves = model.runs.map((run, place) => ({ run, place, f: figures(run, chosen), d: distribution(run, chosen) })).filter(({ f }) => f && f.max !== null && f.max !== undefined);
    const held = model.runs.filter(holdsFor);
    const whose = holdsForAll() ? '' : ` of ${held.map((run) => run.label).join(', ')}`;
    const marks = (model.runs.length && !held.length ? [] : bounds(chosen)).map(({ name, level, value }) => ({ value, text: `bound${whose}, ${name}`, colour: Draw.fill(level), dash: level > 0 }));
    const { deadline } = model.tasks[chosen];
    const most = Math.max(1, ...curves.map(({ f }) => Number(f.max)), ...marks.map(({ value }) => value));
    if (deadline && Number(deadline) <= most * 4) marks.push({ value: Number(deadline), text: 'deadline', colour: p.ink });
    const farthest = Math.max(most, ...marks.map(({ value }) => value)) * 1.06;
    const jobs = Math.max(10, ...curves.map(({ d }) => (d ? Number(d.count) : 0)));
    const decades = Math.ceil(Math.log10(jobs));
    const x = (value) => left + value / farthest * (width - left - right);
    const y = (share) => top + Math.min(1, -Math.log10(share) / decades) * (height - top - bottom);
    plot = { value: (at) => (at - left) / (width - left - right) * farthest, left, right: width - right };
    ctx.font = '11px system-ui, sans-serif'; ctx.textBaseline = 'middle'; ctx.textAlign = 'right';
    for (let power = 0; power <= decades; power++) {
      ctx.fillStyle = p.grid; ctx.fillRect(left, Math.round(y(10 ** -power)), width - left - right, 1);
      ctx.fillStyle = p.muted; ctx.fillText(power === 0 ? 'all' : `1/${Text.count(10 ** power)}`, left - 6, y(10 ** -power));
    }
    ctx.textAlign = 'center';
    const axis = Draw.ticks(0, farthest, width / 110);
    for (const { at, label } of axis.list) { ctx.fillStyle = p.grid; ctx.fillRect(Math.round(x(at)), top, 1, height - top - bottom); ctx.fillStyle = p.muted; ctx.fillText(`${label} ${axis.unit}`, Math.min(x(at), width - 24), height - bottom + 12); }
    ctx.textAlign = 'left'; ctx.fillStyle = p.muted;
    ctx.fillText('jobs whose response is longer', 8, 10);
    marks.sort((a, b) => a.value - b.value);
    const labels = [];
    marks.forEach(({ value, text, colour, dash }, i) => {
      ctx.strokeStyle = colour; ctx.lineWidth = 2; ctx.setLineDash(dash ? [5, 3] : []);
      ctx.beginPath(); ctx.moveTo(x(value), top); ctx.lineTo(x(value), height - bottom); ctx.stroke(); ctx.setLineDash([]);
      const fits = x(value) + ctx.measureText(text).width + 8 < width;
      labels.push({ text, x: x(value) + (fits ? 5 : -5), y: top + 9 + 15 * i, align: fits ? 'left' : 'right' });
    });
    for (const { place, f, d } of curves) {
      ctx.strokeStyle = ctx.fillStyle = Draw.run(place); ctx.lineWidth = 2.2; ctx.setLineDash(place % 2 ? [7, 3] : []);
      const floor = height - bottom;
      if (d) {
        const { steps, total } = exceedance(d);
        ctx.beginPath(); ctx.moveTo(x(0), y(1));
        let last = 1;
        for (const { at, share } of steps) { ctx.lineTo(x(at), y(last)); ctx.lineTo(x(at), y(share)); last = share; }
        ctx.lineTo(x(Number(f.max)), y(last)); ctx.lineTo(x(Number(f.max)), Math.min(floor, y(1 / total / 1.6)));
        ctx.stroke();
      }
      ctx.setLineDash([]);
      ctx.beginPath(); ctx.arc(x(Number(f.max)), d ? Math.min(floor, y(1 / Number(d.count))) : floor - 8 - 10 * place, 4, 0, 7); ctx.fill();
    }
    for (const { text, x, y, align } of labels) {
      const wide = ctx.measureText(text).width;
      ctx.fillStyle = p.card; ctx.globalAlpha = 0.85; ctx.fillRect(align === 'left' ? x - 2 : x - wide - 2, y - 7, wide + 4, 14); ctx.globalAlpha = 1;
      ctx.textAlign = align; ctx.fillStyle = p.ink; ctx.fillText(text, x, y);
    }
  }

  function readOff(event) {
    const { x } = detail.place(event);
    if (!plot || x < plot.left || x > plot.right || chosen === null) return Tooltip.hide();
    const value = plot.value(x);
    const lines = model.runs.flatMap((run) => {
      const d = distribution(run, chosen);
      if (!d || !Number(d.count)) return [];
      const longer = d.buckets.reduce((sum, [bucket, count]) => sum + (Data.bucketFloor(bucket) > value ? Number(count) : 0), 0);
      return [`${run.label}: about ${Text.count(longer)} of ${Text.plural(d.count, 'job')} longer`];
    });
    Tooltip.show(event, Text.short(value), lines);
  }

  function choose(task) {
    chosen = task;
    title.textContent = task === null ? '' : `${model.tasks[task].name}: how many jobs take how long`;
    sheet.invalidate();
    detail.layout();
  }

  /** The task whose responses differ most, of the highest level. */
  function interesting() {
    const spread = (task) => Math.max(0, ...model.runs.map((run) => { const f = figures(run, task); return f && f.max ? Number(f.max) / Number(f.min || 1) : 0; }));
    const order = (a, b) => (model.tasks[b].level ?? 0) - (model.tasks[a].level ?? 0) || spread(b) - spread(a);
    return [...Filter.tasks()].sort(order)[0] ?? null;
  }

  function tip(event) {
    const { below, y } = sheet.place(event);
    const task = Filter.tasks()[Math.floor(below / pitch())];
    if (task === undefined || y < sheet.options.header) return Tooltip.hide();
    const lines = bounds(task).map(({ name, value }) => `proved by ${testName(test)}, ${name}: at most ${Text.exact(value)}`);
    for (const run of model.runs) { const f = figures(run, task); if (f && f.max !== null && f.max !== undefined) lines.push(`${run.label}: mean ${Text.short(f.mean)}, p99 ${Text.short(f.p99)}, max ${Text.short(f.max)}`); }
    if (model.tasks[task].deadline) lines.push(`deadline ${Text.exact(model.tasks[task].deadline)}`);
    Tooltip.show(event, model.tasks[task].name, lines);
  }

  /** Whether an observed response is above what was proved for the task's own level. */
  function above(run, task) {
    if (!holdsFor(run)) return false;
    const limit = bounds(task).find(({ level }) => level === model.tasks[task].level);
    const f = figures(run, task);
    return Boolean(limit && f && f.max !== null && f.max !== undefined && Number(f.max) > limit.value);
  }

  function columns() {
    const spec = (task) => model.tasks[task];
    const list = [
      { title: 'task', sort: (t) => spec(t).name, cell: (t) => spec(t).name },
      { title: 'level', sort: (t) => spec(t).level, cell: (t) => Draw.badge(spec(t).level) },
      { title: 'deadline', number: true, sort: (t) => spec(t).deadline, cell: (t) => Text.exact(spec(t).deadline) },
    ];
    for (const name of model.levels) {
      const find = (t) => bounds(t).find((one) => one.name === name)?.value;
      if (tests.length) list.push({ title: `proved ${name}`, number: true, sort: find, cell: (t) => Text.short(find(t)) });
    }
    for (const run of model.runs) {
      for (const what of ['mean', 'p99', 'max']) {
        list.push({ title: `${run.label} ${what}`, number: true, sort: (t) => figures(run, t)?.[what],
          cell: (t) => (what === 'max' && above(run, t) ? { text: Text.short(figures(run, t).max), class: 'warn', title: 'above the proved bound' } : Text.short(figures(run, t)?.[what])) });
      }
    }
    return list;
  }

  function legend() {
    const items = model.runs.map((run, place) => [Draw.swatch(30, 14, (ctx) => { ctx.fillStyle = Draw.run(place); ctx.globalAlpha = 0.5; for (const [x, h] of [[5, 4], [9, 9], [13, 7], [17, 4], [21, 2]]) ctx.fillRect(x, 10 - h, 3, h); ctx.globalAlpha = 1; ctx.fillRect(3, 9, 25, 2); }), run.title]);
    if (tests.length) model.levels.forEach((name, level) => items.push([Draw.swatch(12, 16, (ctx) => { ctx.strokeStyle = Draw.fill(level); ctx.lineWidth = 2.2; ctx.setLineDash(level ? [4, 2] : []); ctx.beginPath(); ctx.moveTo(7, 1); ctx.lineTo(7, 15); ctx.stroke(); }), `proved bound, ${name}`]));
    items.push([Draw.swatch(10, 16, (ctx) => { ctx.fillStyle = Draw.palette().ink; ctx.fillRect(4, 0, 2, 16); }), 'deadline']);
    if (model.runs.length) {
      items.push([Draw.swatch(12, 14, (ctx) => { ctx.fillStyle = Draw.palette().muted; ctx.beginPath(); ctx.arc(6, 7, 4, 0, 7); ctx.fill(); }), 'mean']);
      items.push([Draw.swatch(12, 14, (ctx) => { ctx.fillStyle = Draw.palette().muted; ctx.beginPath(); ctx.moveTo(2, 11); ctx.lineTo(10, 11); ctx.lineTo(6, 5); ctx.fill(); }), 'p99']);
    }
    return el('ul', { class: 'legend' }, items.map(([picture, text]) => el('li', {}, picture, text)));
  }

  function build(body) {
    if (!model.tasks.length || (!tests.length && !model.runs.length)) { body.append(el('p', { class: 'notice' }, 'Nothing was analysed or executed.')); return; }
    test = suitable();
    relative = model.tasks.every((task) => task.deadline);
    const redraw = () => { range(); sheet.layout(); detail.layout(); Filter.update(); };
    const controls = el('div', { class: 'controls' });
    if (tests.length) {
      const select = el('select', { id: 'bounds', onchange: (event) => { test = event.target.value === '' ? null : tests[Number(event.target.value)]; redraw(); } },
        el('option', { value: '' }, 'none'), tests.map((one, i) => el('option', { value: i }, `${testName(one)} (${one.verdict})`)));
      select.value = test ? tests.indexOf(test) : '';
      controls.append(el('label', {}, 'Bounds of ', select));
    }
    if (relative) controls.append(el('label', {}, 'Axis ', el('select', { id: 'axis', onchange: (event) => { relative = event.target.value === 'share'; redraw(); } }, el('option', { value: 'share' }, 'share of the deadline'), el('option', { value: 'time' }, 'time'))));
    sheet = new Sheet({ label: 'Response times by task; arrow up and down choose a task', header: 24, content: () => Math.max(1, Filter.tasks().length) * pitch(), most: () => Math.max(300, innerHeight * 0.7), draw });
    detail = new Sheet({ label: 'Response times of the chosen task', header: 0, content: () => 230, most: 230, draw: drawDetail });
    title = el('h3', { 'aria-live': 'polite' });
    body.append(controls, sheet.node, legend(), title, detail.node,
      el('p', { class: 'note' }, 'Bars and curves sum responses up in buckets no wider than 1/16 of them; the figures in the table are exact. The analysis counts no overheads, so measured responses may lie above what it proves. Bounds are compared only with runs of the policy, and of the order, that they were proved for.'));
    sheet.node.addEventListener('pointermove', tip);
    sheet.node.addEventListener('pointerleave', () => Tooltip.hide());
    sheet.node.addEventListener('click', (event) => { const { below, y } = sheet.place(event); const task = Filter.tasks()[Math.floor(below / pitch())]; if (task !== undefined && y > sheet.options.header) choose(task); });
    sheet.node.addEventListener('keydown', (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const tasks = Filter.tasks();
      if (!step || !tasks.length) return;
      event.preventDefault();
      const next = Math.min(tasks.length - 1, Math.max(0, tasks.indexOf(chosen) + step));
      choose(tasks[next]);
      sheet.reveal(next * pitch(), (next + 1) * pitch());
    });
    detail.node.addEventListener('pointermove', readOff);
    detail.node.addEventListener('pointerleave', () => Tooltip.hide());
    Filter.onChange(() => { range(); sheet.layout(); if (!Filter.tasks().includes(chosen)) choose(Filter.tasks()[0] ?? null); });
    range();
    choose(interesting());
    body.append(table({ caption: 'Response times', columns: columns(), rows: Filter.tasks }));
  }

  return { build, above, bounds, get test() { return test; }, get chosen() { return chosen; }, get sheet() { return sheet; } };
})();
