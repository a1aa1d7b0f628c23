'use strict';

/* Text: times, counts, and the only way in which text gets into the page. */

const Text = (() => {
  const UNITS = [['s', 1e9], ['ms', 1e6], ['µs', 1e3], ['ns', 1]];

  /** A time in nanoseconds with four digits at most. Takes numbers and strings of digits. */
  function short(nanos) {
    if (nanos === null || nanos === undefined) return '–';
    const value = Number(nanos);
    if (value === 0) return '0';
    const [name, size] = UNITS.find(([, size]) => Math.abs(value) >= size) || ['ns', 1];
    const scaled = value / size;
    const digits = Math.abs(scaled) >= 1000 ? 0 : Math.abs(scaled) >= 100 ? 1 : Math.abs(scaled) >= 10 ? 2 : 3;
    return `${Number(scaled.toFixed(digits))} ${name}`;
  }

  /** A time in nanoseconds, every digit. Whole numbers of any size, as numbers, strings or BigInt. */
  function exact(nanos) {
    if (nanos === null || nanos === undefined) return '–';
    let value = BigInt(nanos);
    const sign = value < 0n ? '−' : '';
    if (value < 0n) value = -value;
    const unit = UNITS.find(([, size]) => value >= BigInt(size)) || ['ns', 1];
    const size = BigInt(unit[1]);
    const rest = value % size;
    const digits = String(unit[1]).length - 1;
    const fraction = rest ? '.' + String(rest).padStart(digits, '0').replace(/0+$/, '') : '';
    return `${sign}${grouped(value / size)}${fraction} ${unit[0]}`;
  }

  function grouped(whole) {
    return String(whole).replace(/\B(?=(\d{3})+$)/g, '\u202f');
  }

  /** A count: number or string of digits. */
  function count(value) {
    return value === null || value === undefined ? '–' : grouped(BigInt(value));
  }

  /** `1 job`, `2 jobs`. */
  function plural(value, noun) {
    return `${count(value)} ${noun}${String(value) === '1' ? '' : 's'}`;
  }

  function percent(share) {
    if (share === null || share === undefined || !Number.isFinite(share)) return '–';
    const value = share * 100;
    return `${Number(value.toFixed(value >= 10 ? 1 : value >= 1 ? 2 : 3))} %`;
  }

  /** An element. Strings become text nodes, never markup; null and false are left out. */
  function el(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
      // The page's policy allows no style attributes; this way it allows.
      else if (name === 'style') element.style.cssText = value;
      else if (value === true) element.setAttribute(name, '');
      else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
    }
    for (const child of children.flat()) {
      if (child !== null && child !== undefined && child !== false) element.append(child);
    }
    return element;
  }

  return { short, exact, count, plural, percent, el };
})();

const { el } = Text;
