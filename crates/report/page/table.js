/* Tables that sort, follow the filter, and never have more than a page of rows. */

const CELLS_MAX = 360;

/**
 * @param options.caption  what the table is, for those who cannot see it
 * @param options.columns  {title, number, sort(row), cell(row) -> string | Node | {text, class}}; the first names the row
 * @param options.rows     () -> rows, asked again when the filter changes
 * @param options.most     the most rows of a page
 */
function table({ caption, columns, rows, most = 40 }) {
  const size = Math.min(most, Math.max(6, Math.floor(CELLS_MAX / columns.length)));
  let order = null, page = 0;
  const head = el('tr');
  const body = el('tbody');
  const status = el('span', { 'aria-live': 'polite' });
  const previous = el('button', { type: 'button', onclick: () => { page--; fill(); } }, '← Previous');
  const next = el('button', { type: 'button', onclick: () => { page++; fill(); } }, 'Next →');
  const pager = el('div', { class: 'pager' }, previous, next, status);

  columns.forEach((column, place) => {
    const content = column.sort
      ? el('button', { type: 'button', onclick: () => sortBy(place) }, column.title)
      : column.title;
    head.append(el('th', { scope: 'col', class: column.number ? 'number' : null }, content));
  });

  function sortBy(place) {
    order = order && order.place === place ? (order.down ? { place, down: false } : null) : { place, down: true };
    page = 0;
    fill();
  }

  function compare(a, b) {
    if (a === null || a === undefined) return b === null || b === undefined ? 0 : 1;
    if (b === null || b === undefined) return -1;
    if (typeof a === 'string' && typeof b === 'string' && !/^\d+$/.test(a + b)) return order.down ? (a < b ? -1 : a > b ? 1 : 0) : (a > b ? -1 : a < b ? 1 : 0);
    return order.down ? Number(b) - Number(a) : Number(a) - Number(b);
  }

  function cell(column, row, place) {
    const value = column.cell(row);
    const plain = value === null || value === undefined || typeof value !== 'object' || value instanceof Node;
    const content = plain ? value : value.text;
    const classes = [column.number ? 'number' : '', plain ? '' : value.class || ''].join(' ').trim() || null;
    const title = plain ? null : value.title;
    return place === 0 ? el('th', { scope: 'row', class: classes, title: typeof content === 'string' ? content : title }, content) : el('td', { class: classes, title }, content);
  }

  function fill() {
    let list = rows();
    if (order) list = [...list].sort((a, b) => compare(columns[order.place].sort(a), columns[order.place].sort(b)));
    const pages = Math.max(1, Math.ceil(list.length / size));
    page = Math.min(Math.max(page, 0), pages - 1);
    const part = list.slice(page * size, (page + 1) * size);
    body.replaceChildren(...part.map((row) => el('tr', {}, columns.map((column, place) => cell(column, row, place)))));
    if (!part.length) body.append(el('tr', {}, el('td', { colspan: columns.length }, 'nothing to show')));
    [...head.children].forEach((th, place) => {
      if (order && order.place === place) th.setAttribute('aria-sort', order.down ? 'descending' : 'ascending');
      else th.removeAttribute('aria-sort');
    });
    pager.hidden = pages === 1;
    previous.disabled = page === 0;
    next.disabled = page === pages - 1;
    status.textContent = `${page * size + 1} to ${page * size + part.length} of ${list.length}`;
  }

  Filter.onChange(fill);
  fill();
  return el('div', {}, el('div', { class: 'wide', tabindex: '0', role: 'region', 'aria-label': caption }, el('table', {}, el('thead', {}, head), body)), pager);
}
