/* Puts the page together and checks itself: the root element says `data-ok="yes"`, or `no` with the
   reasons in `data-errors`. */

(() => {
  const { model } = Data;
  const errors = [];
  const root = document.documentElement;
  const expect = (holds, what) => { if (!holds) errors.push(what); };
  const report = () => { root.dataset.ok = errors.length ? 'no' : 'yes'; if (errors.length) root.dataset.errors = errors.slice(0, 20).join('\n'); };
  addEventListener('error', (event) => { errors.push(event.message); report(); });
  addEventListener('securitypolicyviolation', (event) => { errors.push(`the page asked for ${event.blockedURI}`); report(); });

  /** What the traces say must fit together, and what was counted elsewhere must be there. */
  function checkTrace(run) {
    const { drawn, label } = run;
    drawn.rows.forEach((row, task) => {
      const name = `${label}, ${model.tasks[task].name}`;
      const { jobs, slices, marks, responses } = row;
      for (let i = 0; i < jobs.count; i++) {
        if (i && jobs.release[i] < jobs.release[i - 1]) { expect(false, `${name}: releases do not ascend`); break; }
      }
      for (let i = 0; i < slices.count; i++) {
        if (!(slices.to[i] >= slices.from[i]) || (i && slices.to[i] < slices.to[i - 1]) || slices.job[i] >= jobs.count) { expect(false, `${name}: slice ${i} is out of order`); break; }
      }
      for (let i = 0; i < marks.count; i++) if (marks.job[i] >= jobs.count) { expect(false, `${name}: mark ${i} has no job`); break; }
      const sum = responses.buckets.reduce((sum, [, count]) => sum + Number(count), 0);
      expect(sum === Number(responses.count), `${name}: the distribution has ${sum} of ${responses.count} jobs`);
      if (drawn.cut !== null) return;
      let completed = 0, longest = -1;
      for (let i = 0; i < jobs.count; i++) if (jobs.response[i] >= 0) { completed++; longest = Math.max(longest, jobs.response[i]); }
      expect(completed === Number(responses.count), `${name}: ${completed} jobs completed, the distribution has ${responses.count}`);
      const { max } = responses.spread;
      const rounded = max === null ? -1 : Math.floor(Number(max) / drawn.tick) * drawn.tick;
      expect(longest === rounded, `${name}: the longest response is ${longest}, not ${max}`);
      const figures = run.tasks[task];
      if (figures && !Number(drawn.lost)) expect(jobs.count === Number(figures.released), `${name}: ${jobs.count} jobs drawn, ${figures.released} counted`);
    });
    for (const modes of drawn.modes) for (let i = 1; i < modes.count; i++) if (modes.at[i] < modes.at[i - 1]) { expect(false, `${label}: modes do not ascend`); break; }
    expect(drawn.rows.every(({ domain }) => domain < drawn.modes.length), `${label}: a task is in no domain`);
    oneAtATime(drawn, label);
  }

  /** The counts of a run are the sums over its tasks. */
  function checkCounts(run) {
    for (const what of ['released', 'completed', 'dropped', 'missed']) {
      const sum = run.tasks.reduce((sum, task) => sum + BigInt(task ? task[what] : 0), 0n);
      expect(sum === BigInt(run.jobs[what]), `${run.label}: ${run.jobs[what]} jobs ${what}, but ${sum} over all tasks`);
    }
  }

  /** Two slices of one CPU never overlap. */
  function oneAtATime(drawn, label) {
    const all = new Map();
    for (const { slices } of drawn.rows) for (let i = 0; i < slices.count; i++) {
      if (!all.has(slices.cpu[i])) all.set(slices.cpu[i], []);
      all.get(slices.cpu[i]).push(slices.from[i], slices.to[i]);
    }
    for (const [cpu, ends] of all) {
      const order = new Float64Array(ends);
      const from = order.filter((_, i) => i % 2 === 0).sort();
      const to = order.filter((_, i) => i % 2 === 1).sort();
      for (let i = 1; i < from.length; i++) if (from[i] < to[i - 1]) { expect(false, `${label}: two jobs at once on CPU ${cpu}`); break; }
    }
  }

  function checkPage() {
    const elements = document.getElementsByTagName('*').length;
    root.dataset.elements = elements;
    expect(elements <= 5000, `the page has ${elements} elements`);
    expect(!document.querySelector('[src], link[rel=stylesheet], img, iframe, object'), 'the page refers to another file');
    expect(document.querySelectorAll('script').length === 2, 'a name became a script');
    for (const section of document.querySelectorAll('main > section')) expect(section.querySelector('.body').childElementCount > 0, `section ${section.id} is empty`);
  }

  function build() {
    document.getElementById('title').textContent = model.title;
    const parts = [model.file, Text.plural(model.tasks.length, 'task'), model.levels.length ? `levels ${model.levels.join(', ')}` : null, `made by ${model.generator}`];
    document.getElementById('byline').textContent = parts.filter(Boolean).join(' · ');
    document.getElementById('footer').textContent = `From ${model.sources.slice(0, 12).join(', ')}${model.sources.length > 12 ? ` and ${model.sources.length - 12} more` : ''}. This file is complete: it loads nothing.`;
    const nav = document.getElementById('nav');
    for (const section of document.querySelectorAll('main > section')) nav.append(el('li', {}, el('a', { href: `#${section.id}` }, section.querySelector('h2').textContent)));
    Filter.build();
    const body = (id) => document.querySelector(`#${id} .body`);
    Sections.analysis(body('analysis'));
    Steer.build(body('schedule'));
    Responses.build(body('responses'));
    Modes.build(body('modes'));
    Sections.runs(body('runs'));
    Sections.overheads(body('overheads'));
    Sections.summary(body('summary'));
    document.getElementById('data').textContent = '';
  }

  try {
    build();
    model.runs.forEach(checkCounts);
    model.runs.filter((run) => run.drawn).forEach(checkTrace);
    checkPage();
  } catch (error) {
    errors.push(String(error && error.stack || error));
  }
  report();
  window.vestalReport = { Data, Filter, Gantt, Steer, Responses, Modes, Text };
})();
