/* Which tasks are shown: one filter for every table and chart. */

const Filter = (() => {
  const { model } = Data;
  const state = { text: '', levels: new Set(), incidents: false };
  const listeners = [];
  let shown = model.tasks.map((_, i) => i);

  /** Whether something happened to a task in any run. */
  const incidents = model.tasks.map((_, i) => model.runs.some((run) => {
    const task = run.tasks[i];
    return task && [task.missed, task.dropped, task.overruns].some((value) => Number(value) > 0);
  }));

  function update() {
    const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
    shown = [];
    model.tasks.forEach((task, i) => {
      const name = task.name.toLowerCase();
      if (words.length && !words.some((word) => name.includes(word))) return;
      if (state.levels.has(task.level)) return;
      if (state.incidents && !incidents[i]) return;
      shown.push(i);
    });
    const status = document.getElementById('filter-count');
    if (status) status.textContent = shown.length === model.tasks.length ? '' : `${shown.length} of ${model.tasks.length} tasks`;
    for (const listener of listeners) listener();
  }

  function build() {
    const form = document.getElementById('filter');
    form.addEventListener('submit', (event) => event.preventDefault());
    form.append(el('input', { type: 'search', id: 'filter-text', placeholder: 'Filter tasks', 'aria-label': 'Show tasks whose name contains',
      oninput: (event) => { state.text = event.target.value; update(); } }));
    const present = new Set(model.tasks.map((task) => task.level));
    if (present.size > 1) {
      model.levels.forEach((name, level) => {
        if (!present.has(level)) return;
        form.append(el('label', {}, el('input', { type: 'checkbox', checked: true, 'data-level': level,
          onchange: (event) => { if (event.target.checked) state.levels.delete(level); else state.levels.add(level); update(); } }), Draw.badge(level)));
      });
    }
    if (incidents.some(Boolean)) {
      form.append(el('label', { title: 'tasks with overruns, dropped or late jobs' }, el('input', { type: 'checkbox', id: 'filter-incidents',
        onchange: (event) => { state.incidents = event.target.checked; update(); } }), 'with incidents'));
    }
    form.append(el('output', { id: 'filter-count', for: 'filter-text', class: 'note' }));
  }

  return { build, update, onChange: (listener) => listeners.push(listener), tasks: () => shown };
})();
