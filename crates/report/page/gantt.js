/* The schedule: one row for each task and run, drawn for the window of time that is in view. What is
   narrower than two pixels is summed up by pixel, so a frame costs at most one look at each event. */

const Gantt = (() => {
  const { model, below } = Data;
  const drawn = model.runs.map((run, place) => ({ run, place, trace: run.drawn })).filter(({ trace }) => trace);
  const AXIS = 24, STRIP = 16, MOST = 660, EDGE = 0.012;
  const view = { from: 0, to: 1 };
  let end = 1, least = 20, runs = [], rows = [], strips = [], selected = null, hovered = null, sheet = null, overview = null, status = null;
  /** Where the arrows of the last frame stand; filled only when a test asks for it. */
  let arrows = null;

  const narrow = () => sheet.width < 600;
  const gutter = () => (narrow() ? 8 : Math.min(190, Math.round(sheet.width * 0.2)));
  const header = () => AXIS + STRIP * strips.length;
  const pitch = () => (narrow() ? 62 : 48);
  const scale = () => (sheet.width - gutter() - 8) / (view.to - view.from);
  const xOf = (at) => gutter() + (at - view.from) * scale();
  const atOf = (x) => view.from + (x - gutter()) / scale();
  const level = (row) => model.tasks[row.task].level;

  /* ---- what is shown -------------------------------------------------------------------------- */

  function arrange() {
    rows = [];
    for (const task of Filter.tasks()) for (const one of runs) rows.push({ task, ...one, lane: one.trace.rows[task] });
    /* Above the rows: for each run its modes, and what its CPUs do if there are several. */
    strips = runs.flatMap(({ run, trace }) => [...trace.modes.map((modes) => ({ run, trace, modes })), ...trace.lanes.map((lane) => ({ run, trace, lane }))]);
    if (selected && !rows.some((row) => row.task === selected.task && row.run === selected.run)) selected = null;
    sheet.options.header = header();
    sheet.layout();
  }

  function choose(which) {
    runs = which === 'all' ? drawn : [drawn[Number(which)]];
    end = Math.max(1, ...runs.map(({ trace }) => trace.end));
    fit(Math.min(end, legible()));
    arrange();
    overview.layout();
  }

  /** A span in which half of the tasks can be read job by job. */
  function legible() {
    const periods = model.tasks.map((task) => Number(task.period)).filter(Boolean).sort((a, b) => a - b);
    return periods.length ? 8 * periods[periods.length >> 1] : Infinity;
  }

  /** Shows the first part of the run, or all of it, with a margin for arrows at its ends. */
  function fit(span = end) {
    look(-span * EDGE, span * (1 + EDGE));
  }

  /** Moves the window, within the run and not below a few nanoseconds. */
  function look(from, to) {
    const span = Math.min(Math.max(to - from, least), end * (1 + 2 * EDGE));
    const middle = (from + to) / 2;
    view.from = Math.min(Math.max(middle - span / 2, -span * EDGE), end - span * (1 - EDGE));
    view.to = view.from + span;
    if (sheet) { sheet.invalidate(); overview.invalidate(); }
  }

  function zoom(factor, at = (view.from + view.to) / 2) {
    look(at - (at - view.from) * factor, at + (view.to - at) * factor);
  }

  function pan(share) {
    const span = view.to - view.from;
    look(view.from + span * share, view.to + span * share);
  }

  /* ---- drawing -------------------------------------------------------------------------------- */

  function draw(ctx, width, height, scrolled, ratio) {
    const p = Draw.palette();
    const top = header(), left = gutter(), step = pitch();
    if (arrows) arrows.length = 0;
    ctx.save();
    ctx.beginPath(); ctx.rect(0, top, width, height - top); ctx.clip();
    const first = Math.max(0, Math.floor(scrolled / step));
    const last = Math.min(rows.length, Math.ceil((scrolled + height - top) / step));
    const axis = Draw.ticks(Math.max(0, view.from), Math.min(end, view.to), Math.max(2, (width - left) / 88));
    const visible = (last - first) * step;
    /* Rows of one run share their bands: then these are drawn once. */
    const shared = runs.length === 1 && runs[0].trace.modes.length === 1;
    if (shared && rows.length) { ctx.save(); ctx.beginPath(); ctx.rect(left, top, width - left, height); ctx.clip(); bands(ctx, runs[0].trace, runs[0].trace.modes[0], top + first * step - scrolled, visible); ctx.restore(); }
    for (let i = first; i < last; i++) {
      const y = top + i * step - scrolled;
      const row = rows[i];
      if (selected && selected.task === row.task && selected.run === row.run) { ctx.fillStyle = p.focus; ctx.globalAlpha = 0.09; ctx.fillRect(0, y, width, step); ctx.globalAlpha = 1; }
      ctx.save();
      ctx.beginPath(); ctx.rect(left, y, width - left, step); ctx.clip();
      if (!shared) bands(ctx, row.trace, row.trace.modes[row.lane.domain], y, step);
      ctx.strokeStyle = p.grid; ctx.lineWidth = 1;
      ctx.beginPath();
      for (const { at } of axis.list) { const x = Math.round(xOf(at)) + .5; ctx.moveTo(x, y); ctx.lineTo(x, y + step); }
      ctx.stroke();
      line(ctx, row, y + step - 8, ratio, width);
      ctx.restore();
      label(ctx, row, y, step, left);
      if (i + 1 < rows.length && rows[i + 1].task !== row.task) { ctx.fillStyle = p.line; ctx.fillRect(0, y + step - 1, width, 1); }
    }
    if (!rows.length) { ctx.fillStyle = p.muted; ctx.font = '14px system-ui, sans-serif'; ctx.fillText('No task matches the filter.', left + 12, top + 30); }
    ctx.restore();
    head(ctx, width, left, axis);
  }

  function head(ctx, width, left, axis) {
    const p = Draw.palette();
    ctx.fillStyle = p.stripe; ctx.fillRect(0, 0, width, header());
    ctx.font = '11px system-ui, sans-serif'; ctx.textBaseline = 'middle';
    let free = -1;
    for (const { at, label } of axis.list) {
      const x = xOf(at);
      ctx.fillStyle = p.line; ctx.fillRect(Math.round(x), AXIS - 6, 1, 6);
      const text = `${label} ${axis.unit}`;
      const half = ctx.measureText(text).width / 2;
      const middle = Math.min(Math.max(x, half + 2), width - half - 2);
      if (middle - half < Math.max(free, narrow() ? 0 : left - 30)) continue;
      free = middle + half + 8;
      ctx.fillStyle = p.muted; ctx.textAlign = 'center'; ctx.fillText(text, middle, AXIS / 2 - 1);
    }
    strips.forEach(({ run, trace, modes, lane }, place) => {
      const y = AXIS + place * STRIP;
      ctx.save();
      ctx.beginPath(); ctx.rect(left, y, width - left, STRIP); ctx.clip();
      if (lane) executions(ctx, lane, y, left);
      if (modes) spans(modes, (x0, x1, level, cover) => {
        ctx.globalAlpha = Math.max(0.25, cover);
        ctx.fillStyle = p.raised; ctx.fillRect(x0, y + 1, Math.max(x1 - x0, 1), STRIP - 3);
        ctx.globalAlpha = 1;
        const name = Draw.levelName(level);
        if (cover === 1 && x1 - x0 > ctx.measureText(name).width + 6) { ctx.fillStyle = '#17202b'; ctx.textAlign = 'left'; ctx.fillText(name, Math.max(x0, left) + 3, y + STRIP / 2); }
      });
      for (const gap of trace.gaps) {
        /* A gap is its CPU's; with one lane for everything it stands there. */
        if (lane ? gap.cpu !== lane.cpu : trace.lanes.length || modes !== trace.modes[0]) continue;
        if (gap.to < view.from || gap.from > view.to) continue;
        ctx.fillStyle = p.faint; ctx.fillRect(xOf(gap.from), y + STRIP - 4, Math.max(1, (gap.to - gap.from) * scale()), 3);
      }
      ctx.restore();
      ctx.fillStyle = p.muted; ctx.textAlign = 'left';
      ctx.fillText(narrow() ? '' : Draw.fitted(ctx, [lane ? `CPU ${lane.cpu}` : modes.name ? `mode ${modes.name}` : 'mode', runs.length > 1 && run.label].filter(Boolean).join(', '), left - 14), 10, y + STRIP / 2);
    });
    ctx.fillStyle = p.line; ctx.fillRect(0, header() - 1, width, 1);
  }

  /** What a CPU does: the colours of its tasks' levels, and their names where there is room. */
  function executions(ctx, lane, y, left) {
    let before = -1;
    ctx.textAlign = 'left';
    for (let i = below(lane.to, lane.count, view.from); i < lane.count && lane.from[i] <= view.to; i++) {
      const x0 = xOf(lane.from[i]), x1 = xOf(lane.to[i]);
      /* What ends inside a pixel that is drawn already shows nothing more. */
      if (x1 < before + 1) continue;
      before = Math.floor(x1);
      const task = model.tasks[lane.task[i]];
      ctx.fillStyle = Draw.fill(task.level); ctx.fillRect(x0, y + 1, Math.max(x1 - x0 - (x1 - x0 > 4 ? 1 : 0), 1), STRIP - 3);
      if (x1 - x0 > 24) { ctx.fillStyle = '#fff'; ctx.fillText(Draw.fitted(ctx, task.name, x1 - Math.max(x0, left) - 6), Math.max(x0, left) + 3, y + STRIP / 2); }
    }
  }

  /** Calls `give(x0, x1, level, cover)` for raised modes; those narrower than a pixel are put together. */
  function spans(modes, give) {
    const first = Math.max(0, below(modes.at, modes.count, view.from, true) - 1);
    let pixel = -1, cover = 0, level = 0;
    const flush = () => { if (pixel >= 0 && cover > 0) give(pixel, pixel + 1, level, Math.min(cover, 0.999)); pixel = -1; cover = 0; };
    for (let i = first; i < modes.count && modes.at[i] < view.to; i++) {
      if (!modes.level[i]) continue;
      const x0 = xOf(modes.at[i]);
      const x1 = xOf(i + 1 < modes.count ? modes.at[i + 1] : modes.end);
      if (x1 - x0 >= 1.5) { flush(); give(x0, x1, modes.level[i], 1); continue; }
      if (Math.floor(x0) !== pixel) { flush(); pixel = Math.floor(x0); level = 0; }
      cover += x1 - x0;
      level = Math.max(level, modes.level[i]);
    }
    flush();
  }

  function bands(ctx, trace, modes, y, height) {
    const p = Draw.palette();
    ctx.fillStyle = p.raised;
    spans(modes, (x0, x1, level, cover) => {
      ctx.globalAlpha = Number(p['raised-share']) * (0.4 + 0.6 * level / Math.max(1, model.levels.length - 1)) * Math.max(0.3, cover);
      ctx.fillRect(x0, y, Math.max(x1 - x0, 1), height);
    });
    ctx.globalAlpha = 1;
    if (trace.end < view.to) { ctx.fillStyle = p.stripe; ctx.fillRect(xOf(trace.end), y, sheet.width, height); }
    if (trace.cut !== null && trace.cut < view.to) { ctx.fillStyle = p.grid; ctx.fillRect(xOf(trace.cut), y, sheet.width, height); }
  }

  function label(ctx, row, y, step, left) {
    const p = Draw.palette();
    const task = model.tasks[row.task];
    const first = row.place === runs[0].place;
    const several = runs.length > 1;
    ctx.textBaseline = 'middle'; ctx.textAlign = 'left';
    if (narrow()) {
      ctx.font = '600 11.5px system-ui, sans-serif';
      ctx.fillStyle = Draw.textColour(task.level);
      const text = `${task.name} · ${Draw.levelName(task.level)}${several ? ` · ${row.run.label}` : ''}`;
      ctx.fillText(Draw.fitted(ctx, text, sheet.width - 16), 8, y + 10);
      return;
    }
    ctx.fillStyle = Draw.fill(task.level); ctx.fillRect(0, y, 4, step - 1);
    if (first) {
      ctx.font = '600 13px system-ui, sans-serif'; ctx.fillStyle = p.ink;
      ctx.fillText(Draw.fitted(ctx, task.name, left - 20), 12, y + step / 2 - 8);
    }
    ctx.font = '11px system-ui, sans-serif'; ctx.fillStyle = several ? Draw.run(row.place) : p.muted;
    const period = task.period ? `T ${Text.short(task.period)}` : '';
    const about = [Draw.levelName(task.level), several ? row.run.label : period].filter(Boolean).join(' · ');
    ctx.fillText(Draw.fitted(ctx, about, left - 20), 12, y + step / 2 + 9);
  }

  /** One run of one task: base line, boxes, arrows, marks. */
  function line(ctx, row, base, ratio, width) {
    const p = Draw.palette();
    ctx.fillStyle = p.line; ctx.fillRect(0, base, width, 1);
    ghosts(ctx, row, base, width);
    boxes(ctx, row, base, ratio, width);
    pointers(ctx, row, base);
    incidents(ctx, row.lane.marks, base);
  }

  /** Overruns, drops and misses. Those too close for their signs become ticks of the same colour. */
  function incidents(ctx, marks, base) {
    const p = Draw.palette(), APART = 7;
    const first = below(marks.at, marks.count, view.from), last = below(marks.at, marks.count, view.to, true);
    const heights = { [Data.OVERRAN]: base - 24, [Data.DROPPED]: base - 10, [Data.MISSED]: base - 10 };
    const colours = { [Data.OVERRAN]: p.warn, [Data.DROPPED]: p.muted, [Data.MISSED]: p.bad };
    for (const kind of [Data.OVERRAN, Data.DROPPED, Data.MISSED]) {
      const places = [];
      for (let i = first; i < last; i++) {
        if (marks.kind[i] !== kind) continue;
        const x = xOf(marks.at[i]);
        if (!places.length || x - places[places.length - 1] >= 1) places.push(x);
      }
      const close = places.length * APART * 3 > sheet.width - gutter();
      let before = -99;
      ctx.fillStyle = colours[kind];
      for (const x of places) {
        if (close && kind !== Data.MISSED) { ctx.fillRect(x, heights[kind] - 3, 1, 6); continue; }
        if (x - before < APART) continue;
        before = x;
        Draw.mark(ctx, kind, x, heights[kind]);
      }
    }
  }

  /** What jobs left of their budgets, used up while others execute: boxes without a filling, and lines where they are narrow. */
  function ghosts(ctx, row, base, width) {
    const { ghosts } = row.lane;
    if (!ghosts.count) return;
    const HEIGHT = 19, p = Draw.palette();
    ctx.save();
    ctx.strokeStyle = p.muted; ctx.fillStyle = p.faint; ctx.lineWidth = 1; ctx.setLineDash([3, 2]);
    let before = -1;
    for (let i = below(ghosts.to, ghosts.count, view.from); i < ghosts.count && ghosts.from[i] <= view.to; i++) {
      const x0 = Math.max(xOf(ghosts.from[i]), -4), x1 = Math.min(xOf(ghosts.to[i]), width + 4);
      /* What ends inside a pixel that is drawn already shows nothing more. */
      if (x1 < before + 1) continue;
      before = Math.floor(x1);
      if (x1 - x0 < 3) ctx.fillRect(x0, base - 3, Math.max(x1 - x0, 1), 3);
      else ctx.strokeRect(x0 + .5, base - HEIGHT + .5, x1 - x0 - 1, HEIGHT - 1);
    }
    ctx.restore();
  }

  function boxes(ctx, row, base, ratio, width) {
    const { slices } = row.lane;
    const HEIGHT = 19, k = scale(), left = gutter();
    const colour = level(row);
    const cover = new Float32Array(Math.ceil(width) + 2);
    let dense = false;
    ctx.font = '600 10.5px system-ui, sans-serif'; ctx.textBaseline = 'middle'; ctx.textAlign = 'left';
    /* Backwards: of two jobs of a task that run at once on two CPUs, the one that ends first is on top. */
    const first = below(slices.to, slices.count, view.from);
    for (let i = below(slices.earliest, slices.count, view.to) - 1; i >= first; i--) {
      const x0 = left + (slices.from[i] - view.from) * k;
      const x1 = left + (slices.to[i] - view.from) * k;
      if (x1 - x0 < 2) {
        dense = true;
        const pixel = Math.floor(x0);
        const inside = Math.min(x1, pixel + 1) - x0;
        if (pixel >= 0) { cover[pixel] += inside; cover[pixel + 1] += x1 - x0 - inside; }
        continue;
      }
      const from = Math.max(x0, -4), to = Math.min(x1, width + 4);
      Draw.box(ctx, colour, ratio, from, base - HEIGHT, to - from, HEIGHT);
      if (x1 - x0 > 5) { ctx.strokeStyle = Draw.palette().card; ctx.lineWidth = 1; ctx.strokeRect(from + .5, base - HEIGHT + .5, to - from - 1, HEIGHT - 1); }
      if (x1 - x0 > 34) caption(ctx, row, i, Math.max(x0, left), Math.min(x1, width), base - HEIGHT / 2, colour);
    }
    if (dense) columns(ctx, cover, colour, ratio, base, HEIGHT);
  }

  /** Executions narrower than two pixels: each pixel as high as the share of its time that was used.
      One path, because thousands of small rectangles would cost more than all the rest. */
  function columns(ctx, cover, colour, ratio, base, height) {
    const outline = new Path2D();
    const high = (pixel) => { const value = cover[pixel]; return value > 0 ? Math.max(3, Math.round(height * Math.min(1, value))) : 0; };
    for (let pixel = 0; pixel < cover.length; pixel++) {
      if (!high(pixel)) continue;
      outline.moveTo(pixel, base);
      let tall = 0;
      for (; pixel < cover.length && high(pixel); pixel++) {
        if (high(pixel) !== tall) { outline.lineTo(pixel, base - tall); tall = high(pixel); outline.lineTo(pixel, base - tall); }
      }
      outline.lineTo(pixel, base - tall);
      outline.lineTo(pixel, base);
      outline.closePath();
    }
    ctx.fillStyle = Draw.fill(colour);
    ctx.fill(outline);
    const pattern = Draw.hatch(ctx, colour, ratio);
    if (pattern) { ctx.fillStyle = pattern; ctx.fill(outline); }
  }

  function caption(ctx, row, slice, from, to, y, colour) {
    const { slices } = row.lane;
    const number = Data.jobNumber(row.lane, slices.job[slice]);
    const text = row.trace.cpus > 1 ? `#${number} CPU ${slices.cpu[slice]}` : `#${number}`;
    if (ctx.measureText(text).width + 8 > to - from) return;
    ctx.lineWidth = 3.5; ctx.lineJoin = 'round'; ctx.strokeStyle = Draw.fill(colour); ctx.strokeText(text, from + 5, y);
    ctx.fillStyle = '#fff'; ctx.fillText(text, from + 5, y);
  }

  /** Arrivals and deadlines. Where they are too close for arrows, arrivals become ticks. */
  function pointers(ctx, row, base) {
    const APART = 17, ASIDE = 7, HIGH = 31;
    const { jobs, deadline } = row.lane;
    const p = Draw.palette();
    const first = Math.max(0, below(jobs.release, jobs.count, view.from - deadline) - 1);
    const last = below(jobs.release, jobs.count, view.to, true);
    const visible = last - below(jobs.release, jobs.count, view.from);
    const sparse = visible * APART <= sheet.width - gutter();
    ctx.lineWidth = 1.3;
    const releases = [], ticks = new Path2D();
    let before = -99;
    for (let i = sparse ? first : last - visible; i < last; i++) {
      const x = xOf(jobs.release[i]);
      if (sparse && x - before >= APART) { releases.push(x); before = x; continue; }
      if (!sparse && x - before < 2) continue;
      before = x;
      ticks.rect(Math.round(x), base + 1, 1, 4);
    }
    ctx.fillStyle = p.faint; ctx.fill(ticks);
    ctx.strokeStyle = p.ink; ctx.fillStyle = p.ink;
    if (!sparse) return;
    for (const x of releases) {
      Draw.up(ctx, x, base, HIGH);
      if (arrows) arrows.push({ row: `${row.task}/${row.place}`, up: true, x, from: x - 3.2, to: x + 3.2 });
    }
    if (!deadline) return;
    ctx.strokeStyle = p.muted; ctx.fillStyle = p.muted;
    let near = 0, previous = -99;
    for (let i = first; i < last; i++) {
      const due = jobs.release[i] + deadline;
      if (due < view.from || due > view.to || due > row.trace.end) continue;
      const at = xOf(due);
      while (near + 1 < releases.length && Math.abs(releases[near + 1] - at) <= Math.abs(releases[near] - at)) near++;
      const away = releases.length ? at - releases[near] : 99;
      const x = Math.abs(away) >= ASIDE ? at : releases[near] + (away > 0.5 ? ASIDE : -ASIDE);
      if (x - previous < 8) continue;
      previous = x;
      Draw.down(ctx, x, base, HIGH, at);
      if (arrows) arrows.push({ row: `${row.task}/${row.place}`, up: false, x, from: x - 3.2, to: x + 3.2 });
    }
  }

  /** The whole run at a glance: drawn once for a size, as it does not change with the window. */
  let glance = null;
  function wholeRun(width, height, ratio) {
    const p = Draw.palette();
    const key = [width, height, ratio, p.card, runs.map(({ place }) => place)].join();
    if (glance && glance.key === key) return glance.canvas;
    const canvas = document.createElement('canvas');
    canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
    const ctx = canvas.getContext('2d');
    ctx.scale(ratio, ratio);
    const share = height / Math.max(1, runs.length);
    const saved = { ...view };
    Object.assign(view, { from: 0, to: end });
    runs.forEach(({ trace }, place) => {
      ctx.fillStyle = p.raised;
      const high = (share - 4) / trace.modes.length;
      trace.modes.forEach((modes, domain) => {
        spans(modes, (x0, x1, level, cover) => { ctx.globalAlpha = Math.max(0.35, cover) * 0.8; ctx.fillRect(x0, place * share + 2 + domain * high, Math.max(1, x1 - x0), high); });
      });
      ctx.globalAlpha = 1;
      for (const lane of trace.rows) {
        let before = -9;
        for (let i = 0; i < lane.marks.count; i++) {
          const x = xOf(lane.marks.at[i]);
          if (x - before < 1) continue;
          before = x;
          ctx.fillStyle = lane.marks.kind[i] === Data.MISSED ? p.bad : p.muted;
          ctx.fillRect(x, place * share + share - 6, 1, 4);
        }
      }
    });
    Object.assign(view, saved);
    glance = { key, canvas };
    return canvas;
  }

  /** The whole run, and where the window stands in it. */
  function drawOverview(ctx, width, height, scrolled, ratio) {
    const p = Draw.palette();
    const left = gutter(), wide = width - left - 8;
    ctx.drawImage(wholeRun(width, height, ratio), 0, 0, width, height);
    const x0 = left + Math.max(0, view.from) / end * wide, x1 = left + Math.min(end, view.to) / end * wide;
    ctx.fillStyle = p.ink; ctx.globalAlpha = 0.08; ctx.fillRect(left, 0, x0 - left, height); ctx.fillRect(x1, 0, left + wide - x1, height); ctx.globalAlpha = 1;
    ctx.strokeStyle = p.focus; ctx.lineWidth = 2; ctx.strokeRect(x0, 1, Math.max(3, x1 - x0), height - 2);
    if (!narrow()) { ctx.fillStyle = p.muted; ctx.font = '11px system-ui, sans-serif'; ctx.textBaseline = 'middle'; ctx.fillText('whole run', 10, height / 2); }
  }

  return {
    drawn, view, look, fit, zoom, pan, choose, arrange, draw, drawOverview, xOf, atOf, level,
    get end() { return end; }, get runs() { return runs; }, get rows() { return rows; },
    get selected() { return selected; }, set selected(row) { selected = row; }, get hovered() { return hovered; }, set hovered(found) { hovered = found; },
    get sheet() { return sheet; }, get overview() { return overview; }, attach(s, o, line) { sheet = s; overview = o; status = line; },
    say(text) { status.textContent = text; },
    header, pitch, gutter, least, MOST,
    get arrows() { return arrows; }, record() { arrows = []; sheet.paint(); },
  };
})();
