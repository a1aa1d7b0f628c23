/* The mode over time, one lane for each run and each of its domains, and the list of its changes. */

const Modes = (() => {
  const { model } = Data;
  const LANE = 62;
  let sheet = null;

  /** Stretches of one level: of the trace where there is one, of the listed changes otherwise. */
  function spans(run, modes, changes) {
    if (modes) {
      return Array.from({ length: modes.count }, (_, i) => ({ from: modes.at[i], to: i + 1 < modes.count ? modes.at[i + 1] : modes.end, level: modes.level[i] }));
    }
    const list = [];
    let from = 0, level = 0;
    for (const change of changes) {
      list.push({ from, to: Number(change.at_ns), level });
      from = Number(change.at_ns);
      level = Math.max(0, model.levels.indexOf(change.to));
    }
    list.push({ from, to: Math.max(from, Number(run.duration)), level });
    return list;
  }

  /** The domains of a run: of its trace, or as far as its changes tell them apart by their CPU. */
  function domains(run) {
    if (run.drawn) return run.drawn.modes.map((modes) => ({ run, modes, name: modes.name }));
    const cpus = [...new Set(run.changes.map(({ cpu }) => cpu))].sort((a, b) => a - b);
    if (cpus.length < 2 && !Number.isInteger(cpus[0])) return [{ run, changes: run.changes, name: null }];
    return cpus.map((cpu) => ({ run, changes: run.changes.filter((change) => change.cpu === cpu), name: Number.isInteger(cpu) ? `CPU ${cpu}` : 'all CPUs' }));
  }

  const lanes = model.runs.flatMap(domains).map(({ run, modes, changes, name }, place) => {
    const list = spans(run, modes, changes);
    const raised = list.filter((span) => span.level > 0);
    const time = raised.reduce((sum, span) => sum + span.to - span.from, 0);
    const end = Math.max(1, ...list.map((span) => span.to));
    return { run, place, name, list, raised, share: time / end, end };
  });
  const end = Math.max(1, ...lanes.map((lane) => lane.end));
  const left = () => (sheet.width < 600 ? 34 : 52);

  function draw(ctx, width) {
    const p = Draw.palette();
    const wide = width - left() - 12;
    const x = (at) => left() + at / end * wide;
    const highest = Math.max(1, model.levels.length - 1);
    const axis = Draw.ticks(0, end, width / 100);
    lanes.forEach(({ run, name: domain, list, share, raised }, place) => {
      const top = place * LANE + 20, bottom = top + 30;
      const y = (level) => bottom - level / highest * 28;
      ctx.fillStyle = p.muted; ctx.font = '12px system-ui, sans-serif'; ctx.textBaseline = 'middle'; ctx.textAlign = 'left';
      ctx.fillText(Draw.fitted(ctx, `${run.title}${domain ? `, ${domain}` : ''}: raised ${Text.plural(raised.length, 'time')}, ${Text.percent(share)} of the time`, wide), left(), top - 9);
      ctx.fillStyle = p.grid; for (const { at } of axis.list) ctx.fillRect(Math.round(x(at)), top, 1, 32);
      ctx.font = '11px system-ui, sans-serif'; ctx.textAlign = 'right';
      model.levels.forEach((name, level) => { if (model.levels.length <= 4 || level % 2 === 0) { ctx.fillStyle = p.muted; ctx.fillText(Draw.fitted(ctx, name, left() - 10), left() - 6, y(level)); } });
      ctx.fillStyle = p.raised; ctx.globalAlpha = 0.8;
      for (const span of list) if (span.level) ctx.fillRect(x(span.from), y(span.level), Math.max(0.7, x(span.to) - x(span.from)), bottom - y(span.level));
      ctx.globalAlpha = 1; ctx.strokeStyle = p.muted; ctx.lineWidth = 1;
      ctx.beginPath(); ctx.moveTo(x(0), y(0));
      let pixel = -1;
      for (const span of list) {
        if (Math.round(x(span.to) * 2) === pixel && !span.level) continue;
        pixel = Math.round(x(span.to) * 2);
        ctx.lineTo(x(span.from), y(span.level)); ctx.lineTo(x(span.to), y(span.level));
      }
      ctx.stroke();
    });
    ctx.font = '11px system-ui, sans-serif'; ctx.textAlign = 'center'; ctx.fillStyle = p.muted;
    for (const { at, label } of axis.list) ctx.fillText(`${label} ${axis.unit}`, Math.min(x(at), width - 22), lanes.length * LANE + 8);
  }

  /** Shows an instant in the schedule, if it can be drawn. */
  function go(run, at) {
    const one = Gantt.drawn.findIndex((drawn) => drawn.run === run);
    if (one < 0) return;
    if (!Gantt.runs.some((shown) => shown.run === run)) { Gantt.choose(one); document.getElementById('gantt-run').value = String(one); }
    const near = Number(BigInt(Math.round(Number(at))) - run.drawn.start);
    const half = Math.max(Gantt.end / 100, Gantt.least);
    Gantt.look(near - half, near + half);
    document.getElementById('schedule').scrollIntoView({ block: 'start' });
    Gantt.sheet.node.focus({ preventScroll: true });
  }

  function build(body) {
    if (!model.runs.length) { body.append(el('p', { class: 'notice' }, 'Nothing was executed.')); return; }
    if (lanes.every((lane) => !lane.raised.length)) {
      body.append(el('p', { class: 'note' }, `The mode stayed ${model.levels[0] ? `at ${model.levels[0]}` : 'low'} all the time.`));
      return;
    }
    sheet = new Sheet({ label: 'The mode over time', header: 0, content: () => lanes.length * LANE + 22, most: 480, draw });
    body.append(sheet.node);
    sheet.node.addEventListener('click', (event) => {
      const { x, below } = sheet.place(event);
      const lane = lanes[Math.floor(below / LANE)];
      if (lane && lane.run.drawn) go(lane.run, Number(lane.run.drawn.start) + (x - left()) / (sheet.width - left() - 12) * end);
    });
    const rows = model.runs.flatMap((run) => run.changes.map((change) => ({ run, change })));
    const cpus = rows.some(({ change }) => Number.isInteger(change.cpu));
    const cause = rows.some(({ change }) => change.cause);
    body.append(el('h3', {}, 'Changes'), table({ caption: 'Mode changes', most: 10, rows: () => rows, columns: [
      { title: 'at', sort: ({ change }) => change.at_ns, cell: ({ change }) => Text.exact(change.at_ns) },
      ...(model.runs.length > 1 ? [{ title: 'run', sort: ({ run }) => run.label, cell: ({ run }) => run.label }] : []),
      ...(cpus ? [{ title: 'CPU', number: true, sort: ({ change }) => change.cpu, cell: ({ change }) => (Number.isInteger(change.cpu) ? String(change.cpu) : 'all') }] : []),
      { title: 'from', cell: ({ change }) => change.from },
      { title: 'to', cell: ({ change }) => change.to },
      ...(cause ? [{ title: 'because of', sort: ({ change }) => change.cause, cell: ({ change }) => change.cause || 'nothing admitted was left to do' }] : []),
      ...(Gantt.drawn.length ? [{ title: '', cell: ({ run, change }) => (run.drawn ? el('button', { type: 'button', 'aria-label': `show ${Text.exact(change.at_ns)} in the schedule`, onclick: () => go(run, change.at_ns) }, 'show') : '') }] : []),
    ] }));
  }

  return { build, lanes };
})();
