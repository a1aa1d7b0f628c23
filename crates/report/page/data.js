/* The data: what the page was made of, and the traces unpacked from their bytes.
   The order of the numbers is that of crates/report/src/model.rs. */

const Data = (() => {
  const DROPPED = 1, MISSED = 2, OVERRAN = 4, JUMP = 8;
  const ENDINGS = ['completed', 'preempted', 'blocked', 'stopped', 'not ended when the recording ends'];

  /** Reads variable-length integers. Every number that a page contains is below 2^53. */
  class Reader {
    constructor(base64) {
      const text = atob(base64);
      this.bytes = new Uint8Array(text.length);
      for (let i = 0; i < text.length; i++) this.bytes[i] = text.charCodeAt(i);
      this.at = 0;
    }
    number() {
      const { bytes } = this;
      let byte = bytes[this.at++];
      let value = byte & 0x7f;
      let weight = 128;
      while (byte & 0x80) {
        if (this.at >= bytes.length) throw new Error('a column ends early');
        byte = bytes[this.at++];
        value += (byte & 0x7f) * weight;
        weight *= 128;
      }
      return value;
    }
    signed() {
      const value = this.number();
      return value % 2 ? -(value + 1) / 2 : value / 2;
    }
    end() {
      if (this.at !== this.bytes.length) throw new Error('a column has more bytes than numbers');
    }
  }

  /** The jobs of a row: Float64Arrays of instants in ns since the trace's start; response −1: none. */
  function readJobs(column, tick) {
    const { count } = column;
    const reader = new Reader(column.data);
    const jobs = { count, release: new Float64Array(count), response: new Float64Array(count),
      flags: new Uint8Array(count), offset: new Float64Array(count) };
    let at = 0, offset = -1;
    for (let i = 0; i < count; i++) {
      at += reader.number();
      const flags = reader.number();
      offset += 1 + (flags & JUMP ? reader.number() : 0);
      jobs.release[i] = at * tick;
      jobs.flags[i] = flags;
      jobs.offset[i] = offset;
      jobs.response[i] = (reader.number() - 1) * tick;
      if (jobs.response[i] < 0) jobs.response[i] = -1;
    }
    reader.end();
    return jobs;
  }

  function readSlices(column, tick) {
    const { count } = column;
    const reader = new Reader(column.data);
    const slices = { count, from: new Float64Array(count), to: new Float64Array(count),
      why: new Uint8Array(count), cpu: new Uint16Array(count), job: new Int32Array(count) };
    let at = 0, job = 0;
    for (let i = 0; i < count; i++) {
      at += reader.signed();
      slices.from[i] = at * tick;
      at += reader.number();
      slices.to[i] = at * tick;
      slices.why[i] = reader.number();
      slices.cpu[i] = reader.number();
      job += reader.signed();
      slices.job[i] = job;
    }
    reader.end();
    /* Jobs of one task may run at once on several CPUs: then begins do not ascend, but these do. */
    slices.earliest = new Float64Array(slices.from);
    for (let i = count - 2; i >= 0; i--) slices.earliest[i] = Math.min(slices.earliest[i], slices.earliest[i + 1]);
    return slices;
  }

  /** Where ghosts use up budgets; of a task one at a time. */
  function readGhosts(column, tick) {
    const { count } = column;
    const reader = new Reader(column.data);
    const ghosts = { count, from: new Float64Array(count), to: new Float64Array(count), cpu: new Uint16Array(count) };
    let at = 0;
    for (let i = 0; i < count; i++) {
      at += reader.number();
      ghosts.from[i] = at * tick;
      at += reader.number();
      ghosts.to[i] = at * tick;
      ghosts.cpu[i] = reader.number();
    }
    reader.end();
    return ghosts;
  }

  function readMarks(column, tick) {
    const { count } = column;
    const reader = new Reader(column.data);
    const marks = { count, at: new Float64Array(count), kind: new Uint8Array(count), job: new Int32Array(count) };
    let at = 0, job = 0;
    for (let i = 0; i < count; i++) {
      at += reader.number();
      marks.at[i] = at * tick;
      marks.kind[i] = reader.number();
      job += reader.signed();
      marks.job[i] = job;
    }
    reader.end();
    return marks;
  }

  /** Stretches of one mode, from the start to the end. */
  function readModes(column, tick, end) {
    const reader = new Reader(column.data);
    const modes = { count: column.count + 1, at: new Float64Array(column.count + 1), level: new Uint8Array(column.count + 1), end };
    let at = 0;
    for (let i = 1; i <= column.count; i++) {
      at += reader.number();
      modes.at[i] = at * tick;
      modes.level[i] = reader.number();
    }
    reader.end();
    return modes;
  }

  /** More CPUs than these have no lanes: they would leave no room for the tasks. */
  const LANES_MAX = 16;

  /** What ran on each CPU, in the order of time, by task and slice; nothing if all ran on one. */
  function readLanes(rows) {
    const places = new Map();
    rows.forEach(({ slices }, task) => {
      for (let i = 0; i < slices.count; i++) {
        if (!places.has(slices.cpu[i])) places.set(slices.cpu[i], []);
        places.get(slices.cpu[i]).push([task, i]);
      }
    });
    if (places.size < 2) return { lanes: [], unseen: 0 };
    if (places.size > LANES_MAX) return { lanes: [], unseen: places.size };
    return { unseen: 0, lanes: [...places.keys()].sort((a, b) => a - b).map((cpu) => {
      const list = places.get(cpu).sort(([a, i], [b, j]) => rows[a].slices.from[i] - rows[b].slices.from[j]);
      const lane = { cpu, count: list.length, from: new Float64Array(list.length), to: new Float64Array(list.length), task: new Uint16Array(list.length), job: new Int32Array(list.length) };
      list.forEach(([task, i], place) => {
        const { slices } = rows[task];
        lane.from[place] = slices.from[i]; lane.to[place] = slices.to[i]; lane.task[place] = task; lane.job[place] = slices.job[i];
      });
      return lane;
    }) };
  }

  function readGaps(column, tick) {
    const reader = new Reader(column.data);
    const gaps = [];
    let to = 0;
    for (let i = 0; i < column.count; i++) {
      to += reader.number();
      const length = reader.number() * tick;
      gaps.push({ from: to * tick - length, to: to * tick, cpu: reader.number() });
    }
    reader.end();
    return gaps;
  }

  function unpack(drawing) {
    const tick = Number(drawing.tick);
    const end = Number(drawing.end) * tick;
    const rows = drawing.rows.map((row) => ({
      sequence: BigInt(row.sequence), deadline: Number(row.deadline), domain: row.domain, responses: row.responses,
      jobs: readJobs(row.jobs, tick), slices: readSlices(row.slices, tick), ghosts: readGhosts(row.ghosts, tick), marks: readMarks(row.marks, tick),
    }));
    return {
      dispatch: drawing.dispatch, start: BigInt(drawing.start), tick, end, lost: drawing.lost,
      cut: drawing.cut === null ? null : Number(drawing.cut) * tick, cpus: drawing.cpus,
      rows, ...readLanes(rows),
      modes: drawing.modes.map(({ name, changes }) => ({ name, ...readModes(changes, tick, end) })),
      gaps: readGaps(drawing.gaps, tick),
    };
  }

  /** How many of the first `count` values of an ascending array are below (or at most) a value. */
  function below(array, count, value, orEqual) {
    let low = 0, high = count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (orEqual ? array[middle] <= value : array[middle] < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** A slice's job by its number, as the task counts them. */
  function jobNumber(row, job) {
    return job < 0 ? '?' : String(row.sequence + BigInt(row.jobs.offset[job]));
  }

  /** The least duration of a bucket, see crates/report/src/tally.rs. */
  function bucketFloor(bucket) {
    if (bucket < 16) return bucket;
    const octave = Math.floor(bucket / 16) - 1;
    return (16 + (bucket % 16)) * 2 ** octave;
  }

  const model = JSON.parse(document.getElementById('data').textContent);
  for (const run of model.runs) run.drawn = run.trace ? unpack(run.trace) : null;

  /** `simulated` and `measured`; numbered where there are several. */
  const words = { simulator: 'simulated', linux: 'measured', kernel: 'bare metal', foreign: 'recorded' };
  const totals = new Map();
  for (const run of model.runs) totals.set(run.world, (totals.get(run.world) || 0) + 1);
  const seen = new Map();
  for (const run of model.runs) {
    const number = (seen.get(run.world) || 0) + 1;
    seen.set(run.world, number);
    const word = words[run.world] || run.world;
    run.label = totals.get(run.world) > 1 ? `${word} ${number}` : word;
    run.title = `${run.label}: ${run.policy}, ${Text.short(run.duration)}`;
    run.what = [`scenario ${run.scenario ?? 'not recorded'}`, `seed ${run.seed}`, run.dispatch && `${run.dispatch} dispatch`, ...run.options].filter(Boolean).join(', ');
  }

  return { model, DROPPED, MISSED, OVERRAN, ENDINGS, below, jobNumber, bucketFloor };
})();
