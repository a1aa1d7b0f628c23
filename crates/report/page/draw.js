/* What charts have in common: colours, hatches, axes, arrows. */

const Draw = (() => {
  const BETWEEN = ['#762a83', '#1b7837', '#b35806', '#4d7d3a', '#8a5fb0', '#6b6b00'];
  const { levels } = Data.model;
  const dark = matchMedia('(prefers-color-scheme: dark)');
  let colours = null;
  const patterns = new Map();

  /** The page's colours, read again when the scheme changes. */
  function palette() {
    if (!colours) {
      const style = getComputedStyle(document.documentElement);
      colours = new Proxy({}, { get: (known, name) => (known[name] ??= style.getPropertyValue(`--${name}`).trim()) });
    }
    return colours;
  }
  dark.addEventListener('change', () => { colours = null; patterns.clear(); });

  /** HI red, LO blue, others between; a task of unknown level is grey. */
  function fill(level) {
    if (level === null || level === undefined) return palette().faint;
    if (level === 0) return palette().lo;
    if (level >= levels.length - 1) return palette().hi;
    return BETWEEN[(level - 1) % BETWEEN.length];
  }

  function textColour(level) {
    if (level === 0) return palette()['lo-text'];
    if (level && level >= levels.length - 1) return palette()['hi-text'];
    return palette().ink;
  }

  /** The hatch that tells levels apart without colour: none for the lowest. */
  function hatch(ctx, level, ratio) {
    if (!level) return null;
    const highest = level >= levels.length - 1;
    const key = `${highest}:${ratio}`;
    if (!patterns.has(key)) {
      const size = 7 * ratio;
      const tile = document.createElement('canvas');
      tile.width = tile.height = Math.round(size);
      const pen = tile.getContext('2d');
      pen.strokeStyle = 'rgb(255 255 255 / 42%)';
      pen.lineWidth = 1.6 * ratio;
      pen.beginPath();
      for (const shift of [-tile.width, 0, tile.width]) {
        if (highest) { pen.moveTo(shift - 1, tile.height + 1); pen.lineTo(shift + tile.width + 1, -1); }
        else { pen.moveTo(shift - 1, -1); pen.lineTo(shift + tile.width + 1, tile.height + 1); }
      }
      pen.stroke();
      const pattern = ctx.createPattern(tile, 'repeat');
      pattern.setTransform(new DOMMatrix().scale(1 / ratio));
      patterns.set(key, pattern);
    }
    return patterns.get(key);
  }

  function run(place) {
    return palette()[`run-${place % 4}`];
  }

  function levelName(level) {
    return level === null || level === undefined ? '–' : levels[level];
  }

  function badge(level) {
    if (level === null || level === undefined) return '–';
    const share = level === 0 ? 'var(--lo)' : level >= levels.length - 1 ? 'var(--hi)' : BETWEEN[(level - 1) % BETWEEN.length];
    const stripes = level === 0 ? '' : level >= levels.length - 1
      ? 'repeating-linear-gradient(135deg, rgb(255 255 255 / 18%) 0 2px, transparent 2px 6px), '
      : 'repeating-linear-gradient(45deg, rgb(255 255 255 / 18%) 0 2px, transparent 2px 6px), ';
    return el('span', { class: 'level', style: `background: ${stripes}${share}` }, levels[level]);
  }

  /** Round ticks of an axis from `from` to `to`, at most `most` of them, and the unit of their labels. */
  function ticks(from, to, most) {
    const wanted = Math.max((to - from) / Math.max(most, 1), 1);
    const power = 10 ** Math.floor(Math.log10(wanted));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= wanted);
    const [name, size] = [['s', 1e9], ['ms', 1e6], ['µs', 1e3], ['ns', 1]].find(([, size]) => step >= size || (to >= size && step * 1000 >= size)) || ['ns', 1];
    const list = [];
    const digits = Math.max(0, Math.ceil(Math.log10(size / step)));
    for (let at = Math.ceil(from / step) * step; at <= to && list.length < 200; at += step) {
      list.push({ at, label: (at / size).toFixed(digits) });
    }
    return { list, unit: name, step };
  }

  /** An arrow upwards from the base line: a job arrives. */
  function up(ctx, x, base, height) {
    ctx.beginPath();
    ctx.moveTo(x, base); ctx.lineTo(x, base - height + 4);
    ctx.stroke();
    ctx.beginPath();
    ctx.moveTo(x - 3.2, base - height + 6); ctx.lineTo(x, base - height); ctx.lineTo(x + 3.2, base - height + 6);
    ctx.fill();
  }

  /** An arrow down to the base line: a deadline. Standing aside at `x`, its foot points to `at`. */
  function down(ctx, x, base, height, at) {
    ctx.beginPath();
    ctx.moveTo(x, base - height); ctx.lineTo(x, base - 5);
    if (at !== x) { ctx.moveTo(x, base - 1); ctx.lineTo(at, base - 1); }
    ctx.stroke();
    ctx.beginPath();
    ctx.moveTo(x - 3.2, base - 6.5); ctx.lineTo(x, base - .5); ctx.lineTo(x + 3.2, base - 6.5);
    ctx.closePath(); ctx.stroke();
  }

  /** Marks of what went wrong, with a shape for each kind. */
  function mark(ctx, kind, x, y) {
    const p = palette();
    ctx.save();
    ctx.lineWidth = 2;
    if (kind === Data.DROPPED) {
      ctx.strokeStyle = p.ink;
      ctx.beginPath(); ctx.moveTo(x - 3.5, y - 3.5); ctx.lineTo(x + 3.5, y + 3.5); ctx.moveTo(x + 3.5, y - 3.5); ctx.lineTo(x - 3.5, y + 3.5); ctx.stroke();
    } else if (kind === Data.MISSED) {
      ctx.fillStyle = p.bad;
      ctx.beginPath(); ctx.arc(x, y, 6, 0, 7); ctx.fill();
      ctx.fillStyle = p.card; ctx.font = 'bold 10px system-ui, sans-serif'; ctx.textAlign = 'center'; ctx.textBaseline = 'middle';
      ctx.fillText('!', x, y + .5);
    } else {
      ctx.fillStyle = p.warn; ctx.strokeStyle = p.card; ctx.lineWidth = 1;
      ctx.beginPath(); ctx.moveTo(x, y - 5.5); ctx.lineTo(x + 5, y); ctx.lineTo(x, y + 5.5); ctx.lineTo(x - 5, y); ctx.closePath(); ctx.fill(); ctx.stroke();
    }
    ctx.restore();
  }

  /** Text that ends in an ellipsis where it would be too wide. */
  function fitted(ctx, text, width) {
    if (ctx.measureText(text).width <= width) return text;
    let low = 0, high = Math.min(text.length, 200);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (ctx.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle; else high = middle - 1;
    }
    return `${text.slice(0, low)}…`;
  }

  /** A small picture for a legend. */
  function swatch(width, height, paint) {
    const canvas = el('canvas', { 'aria-hidden': 'true', style: `width:${width}px;height:${height}px` });
    const draw = () => {
      const ratio = Math.min(devicePixelRatio || 1, 2);
      canvas.width = width * ratio; canvas.height = height * ratio;
      const ctx = canvas.getContext('2d');
      ctx.scale(ratio, ratio);
      paint(ctx, ratio);
    };
    draw();
    dark.addEventListener('change', () => requestAnimationFrame(draw));
    return canvas;
  }

  /** A box of execution. */
  function box(ctx, level, ratio, x, y, width, height) {
    ctx.fillStyle = fill(level);
    ctx.fillRect(x, y, width, height);
    const pattern = hatch(ctx, level, ratio);
    if (pattern) { ctx.fillStyle = pattern; ctx.fillRect(x, y, width, height); }
  }

  return { palette, fill, textColour, hatch, run, levelName, badge, ticks, up, down, mark, fitted, swatch, box, onScheme: (f) => dark.addEventListener('change', f) };
})();
