/* Summary, analysis, jobs and overheads: cards and tables. */

const Sections = (() => {
  const { model } = Data;
  const CARDS_MAX = 12;
  const nameOf = (one) => `${one.test}${one.variant ? `:${one.variant}` : ''}`;
  const VERDICTS = { schedulable: ['Schedulable', 'good'], unschedulable: ['Not schedulable', 'bad'], 'not-proven': ['Not proven', 'warn'] };
  const KINDS = { exact: 'exact: yes and no are both proofs', sufficient: 'sufficient: yes is a proof', necessary: 'necessary: no is a proof', unsafe: 'unsafe: neither yes nor no is a proof' };

  function verdict(one) {
    const [word, tone] = VERDICTS[one.verdict] || [one.verdict, ''];
    return { word, tone };
  }

  /* ---- summary ------------------------------------------------------------------------------------ */

  function card(tone, title, headline, lines, facts) {
    return el('article', { class: `card ${tone}` }, el('h3', {}, title), el('p', { class: 'verdict' }, headline), lines.filter(Boolean).map((line) => el('p', {}, line)),
      facts && el('dl', {}, facts.map(([term, value]) => el('div', {}, el('dt', {}, term), el('dd', {}, value)))));
  }

  function analysisCard(one) {
    const { word, tone } = verdict(one);
    return card(tone, `Proof: ${nameOf(one)}`, word, [one.why, one.claim ? `what it claims, without proving it: ${one.claim}` : null, KINDS[one.kind] || one.kind]);
  }

  function runCard(run) {
    const { jobs } = run;
    const missed = Number(jobs.missed), guaranteed = Number(jobs.missed_guaranteed);
    let tone = 'good', headline = 'No guaranteed deadline missed';
    const lines = [];
    if (run.from_trace) {
      headline = missed ? `${Text.plural(jobs.missed, 'deadline')} missed` : 'No deadline missed';
      tone = missed ? 'warn' : 'good';
      lines.push('Counted from the trace, which does not say what was guaranteed.');
    } else if (run.unproved) {
      headline = missed ? `${Text.plural(jobs.missed, 'deadline')} missed` : 'No deadline missed';
      tone = 'warn';
      lines.push('There is no proof, so none was guaranteed.');
    } else if (run.guarantee !== 'kept') {
      headline = [guaranteed && `${Text.plural(jobs.missed_guaranteed, 'guaranteed deadline')} missed`,
        Number(run.unprovoked) && `${Text.plural(run.unprovoked, 'job')} dropped although no job had needed more`].filter(Boolean).join(', ');
      tone = run.guarantee === 'undecided' ? 'warn' : 'bad';
      if (run.guarantee === 'undecided') lines.push('Only time that others took from the run explains it.');
    }
    const late = model.tasks.filter((_, task) => Responses.above(run, task)).length;
    if (late) lines.push(`${Text.plural(late, 'task')} with a response above the proved bound${run.world === 'simulator' ? '' : ', which counts no overheads'}.`);
    lines.push(run.what);
    if (run.proof) lines.push(`Guaranteed by ${run.proof}.`);
    return card(tone, run.title[0].toUpperCase() + run.title.slice(1), headline, lines, [
      ['arrived', Text.count(jobs.released)], ['completed', Text.count(jobs.completed)], ['dropped', Text.count(jobs.dropped)], ['missed', Text.count(jobs.missed)]]);
  }

  function summary(body) {
    const cards = [...model.analyses.map(analysisCard).slice(0, CARDS_MAX), ...model.runs.slice(0, CARDS_MAX).map(runCard)];
    body.append(el('div', { class: 'cards' }, cards));
    const left = Math.max(0, model.analyses.length - CARDS_MAX) + Math.max(0, model.runs.length - CARDS_MAX);
    if (left) body.append(el('p', { class: 'note' }, `and ${left} more, in the tables below`));
    if (!model.runs.length) body.append(el('p', { class: 'note' }, 'Only proofs: no run was given.'));
  }

  /* ---- analysis ----------------------------------------------------------------------------------- */

  function analysis(body) {
    if (!model.analyses.length) {
      body.append(el('p', { class: 'notice' }, 'No proof was given. ', el('code', {}, 'vestal --format json analyze FILE > proof.json'), ' writes one.'));
      return;
    }
    body.append(table({ caption: 'Schedulability tests', rows: () => model.analyses, columns: [
      { title: 'test', sort: nameOf, cell: nameOf },
      { title: 'verdict', sort: (one) => one.verdict, cell: (one) => ({ text: verdict(one).word, class: verdict(one).tone }) },
      { title: 'kind', sort: (one) => one.kind, cell: (one) => one.kind },
      { title: 'policy', sort: (one) => one.policy || '', cell: (one) => one.policy || '–' },
      { title: 'took', number: true, sort: (one) => one.elapsed_us, cell: (one) => `${Text.count(one.elapsed_us)} µs` },
      ...(model.analyses.some((one) => one.why) ? [{ title: 'why not', cell: (one) => (one.why && one.why.length > 90 ? { text: `${one.why.slice(0, 88)}…`, title: one.why } : one.why || '') }] : []),
    ] }));
    const bounded = model.analyses.filter((one) => one.tasks.some(Boolean));
    if (!bounded.length) return;
    const spec = (task) => model.tasks[task];
    const columns = [
      { title: 'task', sort: (t) => spec(t).name, cell: (t) => spec(t).name },
      { title: 'level', sort: (t) => spec(t).level, cell: (t) => Draw.badge(spec(t).level) },
      { title: 'period', number: true, sort: (t) => spec(t).period, cell: (t) => Text.exact(spec(t).period) },
      { title: 'deadline', number: true, sort: (t) => spec(t).deadline, cell: (t) => Text.exact(spec(t).deadline) },
    ];
    if (model.tasks.every((task) => !task.period)) columns.splice(2, 1);
    for (const one of bounded.slice(0, 12)) {
      const prefix = bounded.length > 1 ? `${nameOf(one)} ` : '';
      if (one.tasks.some((task) => task && task.priority !== null)) columns.push({ title: `${prefix}priority`, number: true, sort: (t) => one.tasks[t]?.priority, cell: (t) => (one.tasks[t] ? Text.count(one.tasks[t].priority) : '–') });
      for (const name of model.levels) {
        const find = (t) => one.tasks[t]?.response.find(([known]) => known === name)?.[1];
        if (!model.tasks.some((_, t) => find(t) !== undefined && find(t) !== null)) continue;
        columns.push({ title: `${prefix}R(${name})`, number: true, sort: find, cell: (t) => {
          const late = find(t) && spec(t).deadline && Number(find(t)) > Number(spec(t).deadline);
          return late ? { text: Text.exact(find(t)), class: 'bad', title: 'beyond the deadline' } : Text.exact(find(t));
        } });
      }
    }
    body.append(el('h3', {}, 'Proved response times'), table({ caption: 'Bounds by task', columns, rows: Filter.tasks }));
    if (bounded.length > 12) body.append(el('p', { class: 'note' }, `${bounded.length - 12} more tests have bounds; choose them in the section on response times.`));
  }

  /* ---- jobs --------------------------------------------------------------------------------------- */

  function runs(body) {
    if (!model.runs.length) { body.append(el('p', { class: 'notice' }, 'Nothing was executed.')); return; }
    const many = model.runs.length > 1;
    const WHAT = [['released', 'arrived'], ['completed', 'completed'], ['dropped', 'dropped', 'warn'], ['missed', 'missed', 'bad'], ['overruns', 'overruns', 'warn'], ['preemptions', 'preempted']];
    const columns = [
      { title: 'task', sort: (t) => model.tasks[t].name, cell: (t) => model.tasks[t].name },
      { title: 'level', sort: (t) => model.tasks[t].level, cell: (t) => Draw.badge(model.tasks[t].level) },
    ];
    model.runs.slice(0, 8).forEach((run) => WHAT.forEach(([key, word, tone]) => columns.push({
      title: many ? `${run.label} ${word}` : word, number: true, sort: (t) => run.tasks[t]?.[key],
      cell: (t) => { const value = run.tasks[t]?.[key]; return { text: Text.count(value), class: tone && Number(value) > 0 ? tone : '' }; },
    })));
    body.append(table({ caption: 'Jobs by task', columns, rows: Filter.tasks }));
    body.append(el('h3', {}, 'Runs'), table({ caption: 'Runs', rows: () => model.runs, columns: [
      { title: 'run', sort: (run) => run.label, cell: (run) => run.label },
      { title: 'policy', sort: (run) => run.policy, cell: (run) => run.policy },
      { title: 'scenario', sort: (run) => run.scenario || '', cell: (run) => run.scenario ?? '–' },
      { title: 'seed', number: true, cell: (run) => String(run.seed) },
      { title: 'dispatch', cell: (run) => run.dispatch ?? '–' },
      { title: 'options', cell: (run) => run.options.join(' ') || '–' },
      { title: 'guaranteed by', cell: (run) => run.proof ?? '–' },
    ] }));
    const cpus = model.runs.flatMap((run) => run.cpus.map((cpu) => ({ run, cpu })));
    if (cpus.length) {
      body.append(el('h3', {}, 'CPUs'), table({ caption: 'CPUs', rows: () => cpus, columns: [
        { title: 'run', cell: ({ run }) => run.title },
        { title: 'CPU', number: true, cell: ({ cpu }) => String(cpu.cpu) },
        { title: 'busy', number: true, sort: ({ cpu }) => cpu.busy_ns, cell: ({ run, cpu }) => Text.percent(Number(cpu.busy_ns) / Math.max(1, Number(run.duration))) },
        { title: 'switches', number: true, sort: ({ cpu }) => cpu.switches, cell: ({ cpu }) => Text.count(cpu.switches) },
        { title: 'preemptions', number: true, sort: ({ cpu }) => cpu.preemptions, cell: ({ cpu }) => Text.count(cpu.preemptions) },
        { title: 'migrations', number: true, sort: ({ cpu }) => cpu.migrations, cell: ({ cpu }) => Text.count(cpu.migrations) },
      ] }));
    }
  }

  /* ---- overheads ---------------------------------------------------------------------------------- */

  /** `noticed_late` as words, `lost_ns` as a time. */
  function fact([key, value]) {
    const words = key.replace(/_ns$/, '').replaceAll('_', ' ');
    const shown = value === null ? '–' : key.endsWith('_ns') && /^\d+$/.test(String(value)) ? Text.short(value) : typeof value === 'number' ? Text.count(Math.round(value)) : typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);
    return { words, shown };
  }

  /** A value of several parts as one pair for each of them. */
  function parts([key, value]) {
    if (value === null || typeof value !== 'object') return [[key, value]];
    return Object.entries(value).flatMap(([part, inner]) => parts([`${key} ${part}`, inner]));
  }

  function overheads(body) {
    const rows = model.runs.flatMap((run) => run.overhead.map(([name, cost]) => ({ run, name, cost })));
    const many = model.runs.filter((run) => run.overhead.length).length > 1;
    if (rows.length) {
      const time = (key) => ({ title: key, number: true, sort: ({ cost }) => cost[key], cell: ({ cost }) => Text.short(cost[key]) });
      body.append(table({ caption: 'What mechanisms cost', rows: () => rows, columns: [
        { title: 'mechanism', sort: ({ name }) => name, cell: ({ name }) => name },
        ...(many ? [{ title: 'run', sort: ({ run }) => run.label, cell: ({ run }) => run.label }] : []),
        { title: 'count', number: true, sort: ({ cost }) => cost.count, cell: ({ cost }) => Text.count(cost.count) }, time('mean'), time('p99'), time('max'),
        { title: 'share of the time', number: true, sort: ({ cost }) => cost.share, cell: ({ cost }) => Text.percent(cost.share) },
      ] }));
    } else {
      body.append(el('p', { class: 'note' }, 'No overheads were measured. A simulated run has none; a real one measures them.'));
    }
    const facts = model.runs.filter((run) => run.world !== 'simulator' && run.machine).flatMap((run) => run.machine.flatMap(parts).map((pair) => ({ run, ...fact(pair) })));
    if (!facts.length) return;
    body.append(el('h3', {}, 'The machine'), table({ caption: 'The machine', rows: () => facts, columns: [
      { title: 'what', cell: ({ words }) => words }, { title: 'run', cell: ({ run }) => run.label }, { title: 'value', number: true, cell: ({ shown }) => shown }] }));
  }

  return { summary, analysis, runs, overheads };
})();
