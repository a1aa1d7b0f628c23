/* A canvas of a fixed number of pixels that shows a part of a picture of any height: however many rows
   there are, the page has one element for them. Draws once per frame at most. */

class Sheet {
  /**
   * @param options.label      for those who cannot see it
   * @param options.header     pixels at the top that do not scroll
   * @param options.content    () -> pixels below the header
   * @param options.most       the most pixels that are visible
   * @param options.draw       (ctx, width, height, scrolled, ratio)
   */
  constructor({ label, header, content, most, draw, pan }) {
    this.options = { header, content, most, draw };
    this.canvas = el('canvas', { 'aria-hidden': 'true' });
    this.spacer = el('div', { 'aria-hidden': 'true' });
    this.node = el('div', { class: pan ? 'sheet pan' : 'sheet', tabindex: '0', role: 'application', 'aria-label': label }, this.canvas, this.spacer);
    this.pending = 0;
    this.frames = 0;
    this.node.addEventListener('scroll', () => this.invalidate(), { passive: true });
    /* Laid out in the next frame: a height set while sizes are observed would be observed again. */
    new ResizeObserver(() => { if (this.node.clientWidth !== this.width) requestAnimationFrame(() => this.layout()); }).observe(this.node);
    Draw.onScheme(() => this.invalidate());
  }

  layout() {
    const { header, content, most } = this.options;
    const total = header + content();
    this.width = this.node.clientWidth;
    this.height = Math.min(total, typeof most === 'function' ? most() : most);
    if (!this.width) return;
    this.node.style.height = `${this.height + 2}px`;
    this.width = this.node.clientWidth;
    this.ratio = Math.min(devicePixelRatio || 1, 2);
    const [width, height] = [Math.round(this.width * this.ratio), Math.round(this.height * this.ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.canvas.style.width = `${this.width}px`;
      this.canvas.style.height = `${this.height}px`;
    }
    this.spacer.style.height = `${Math.max(0, total - this.height)}px`;
    this.invalidate();
  }

  invalidate() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.paint();
    });
  }

  paint() {
    if (!this.width) return;
    const ctx = this.canvas.getContext('2d', { alpha: false });
    ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    ctx.fillStyle = Draw.palette().card;
    ctx.fillRect(0, 0, this.width, this.height);
    this.options.draw(ctx, this.width, this.height, this.node.scrollTop, this.ratio);
    this.frames++;
  }

  /** Where an event is: x from the left edge, y from the top of the window, `row` from the top of the content. */
  place(event) {
    const rect = this.node.getBoundingClientRect();
    const x = event.clientX - rect.left - 1;
    const y = event.clientY - rect.top - 1;
    return { x, y, below: y - this.options.header + this.node.scrollTop };
  }

  /** Scrolls so that a stretch of the content is visible. */
  reveal(top, bottom) {
    const visible = this.height - this.options.header;
    if (top < this.node.scrollTop) this.node.scrollTop = top;
    else if (bottom > this.node.scrollTop + visible) this.node.scrollTop = bottom - visible;
  }
}

/* The one tooltip of the page. */
const Tooltip = (() => {
  const node = document.getElementById('tooltip');
  return {
    show(event, title, lines) {
      node.replaceChildren(el('b', {}, title), ...lines.map((line) => el('div', {}, line)));
      node.hidden = false;
      const { width, height } = node.getBoundingClientRect();
      const x = Math.min(event.clientX + 14, innerWidth - width - 6);
      const y = event.clientY + 18 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 18;
      node.style.left = `${Math.max(4, x)}px`;
      node.style.top = `${Math.max(4, y)}px`;
    },
    hide() { node.hidden = true; },
    node,
  };
})();
