'use strict';
// The part of a graph around one of its boxes, drawn from data: graphs of any size can be looked at. Boxes stand in
// topological order, but for outputs, which come last; those of subgraphs stand behind the graph's own.
function graphExplorer(host, graph, reports) {
  const SVG = 'http://www.w3.org/2000/svg';
  const MOST = 90;  // boxes in one picture
  const HUB = 10;   // what is read by more is shown, and passed only from itself: its readers have little to do with each other
  const ROW = 92, GAP = 18, BOX = 40, MARGIN = 16;
  const boxes = graph.boxes.map(([title, subtitle, name, tone, origins]) => ({title, subtitle, name, tone, origins, from: [], to: []}));
  for (let i = 0; i < graph.edges.length; i += 3) {
    const [from, to, carries] = graph.edges.slice(i, i + 3);
    boxes[from].to.push([to, carries]);
    boxes[to].from.push([from, carries]);
  }
  const texts = boxes.map((box) => [box.title, box.subtitle, box.name, ...box.origins].join('\n').toLowerCase());
  const toneOf = (box) => graph.tones[box.tone][0];
  const counts = graph.tones.map((tone, t) => boxes.filter((box) => box.tone === t).length);
  let current = 0, hits = [];

  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }
  function draw(tag, attributes, parent, text) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  }

  // --- what is around a box: breadth first, so that the nearest are in where not all fit
  function around(centre, hops) {
    const distance = new Map([[centre, 0]]);
    const queue = [centre];
    for (const at of queue) {
      if (distance.get(at) === hops) continue;
      const below = at === centre || boxes[at].to.length <= HUB ? boxes[at].to : [];
      for (const [next] of [...boxes[at].from, ...below]) {
        if (distance.has(next) || distance.size >= MOST) continue;
        distance.set(next, distance.get(at) + 1);
        queue.push(next);
      }
    }
    return [...distance.keys()];
  }

  // --- layers from top to bottom; where an edge passes a layer, it has a place of no width in it
  function layers(part) {
    const inside = new Set(part);
    const layer = new Map();
    const level = (at) => {  // readers of a box lie below it, however the list is ordered
      if (!layer.has(at)) {
        layer.set(at, 0);
        layer.set(at, Math.max(0, ...boxes[at].from.filter(([from]) => inside.has(from)).map(([from]) => level(from) + 1)));
      }
      return layer.get(at);
    };
    part.forEach(level);
    for (const at of [...part].sort((a, b) => layer.get(b) - layer.get(a))) {  // what nothing feeds stands near its reader
      const below = boxes[at].to.filter(([to]) => inside.has(to)).map(([to]) => layer.get(to));
      if (below.length > 0 && !boxes[at].from.some(([from]) => inside.has(from))) layer.set(at, Math.min(...below) - 1);
    }
    return layer;
  }

  function arrange(part) {
    const layer = layers(part);
    const inside = new Set(part);
    const rows = [];
    const place = (item) => { (rows[item.row] = rows[item.row] || []).push(item); return item; };
    const items = new Map(part.sort((a, b) => a - b).map((at) => [at, place({at, row: layer.get(at), width: widthOf(boxes[at]), up: [], down: []})]));
    const routes = [];
    for (const at of part) {
      for (const [to, carries] of boxes[at].to) {
        if (!inside.has(to)) continue;
        const route = [items.get(at)];
        for (let row = layer.get(at) + 1; row < layer.get(to); ++row) route.push(place({row, width: 6, up: [], down: []}));
        route.push(items.get(to));
        for (let i = 1; i < route.length; ++i) { route[i].up.push(route[i - 1]); route[i - 1].down.push(route[i]); }
        routes.push({route, carries: graph.carries[carries]});
      }
    }
    const filled = [];
    for (let row = 0; row < rows.length; ++row) filled.push(rows[row] || []);
    settle(filled);
    return {items, routes, rows: filled};
  }

  function settle(rows) {
    const mean = (list) => list.reduce((sum, item) => sum + item.x, 0) / list.length;
    const spread = (row) => {  // as near to where they want to be as their widths let them
      let edge = -Infinity;
      for (const item of row) { item.x = Math.max(item.x, edge + item.width / 2); edge = item.x + item.width / 2 + GAP; }
      const shift = mean(row.map((item) => ({x: item.x - item.wanted})));
      for (const item of row) item.x -= shift;
    };
    for (const row of rows) row.forEach((item, i) => { item.x = item.wanted = i * 150 - row.length * 75; });
    for (let sweep = 0; sweep < 12; ++sweep) {
      const down = sweep % 2 === 0;
      for (const row of down ? rows : [...rows].reverse()) {
        if (row.length === 0) continue;
        for (const item of row) {
          const beside = down ? item.up : item.down;
          item.wanted = beside.length > 0 ? mean(beside) : item.x;
          item.x = item.wanted;
        }
        row.sort((a, b) => a.wanted - b.wanted);
        spread(row);
      }
    }
  }

  const widthOf = (box) => Math.min(260, Math.max(90, 22 + 8 * box.title.length, 22 + 6.6 * box.subtitle.length));
  const short = (text, width) => { const most = Math.floor((width - 14) / 6.4); return text.length > most ? text.slice(0, most - 1) + '…' : text; };

  function picture(centre, hops) {
    const {items, routes, rows} = arrange(around(centre, hops));
    const all = rows.flat();
    const left = Math.min(...all.map((item) => item.x - item.width / 2));
    const right = Math.max(...all.map((item) => item.x + item.width / 2));
    const width = right - left + 2 * MARGIN, height = rows.length * ROW + 2 * MARGIN;
    const x = (item) => item.x - left + MARGIN, y = (item) => item.row * ROW + MARGIN + 20;
    const svg = draw('svg', {class: 'rr', width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'Graph around ' + (boxes[centre].name || boxes[centre].title)}, document.createDocumentFragment());
    for (const {route, carries} of routes) {
      let path = `M${x(route[0])} ${y(route[0]) + BOX}`;
      for (let i = 1; i < route.length; ++i) {
        const top = y(route[i - 1]) + BOX, end = y(route[i]) - (i === route.length - 1 ? 5 : 0), middle = (top + end) / 2;
        path += ` C${x(route[i - 1])} ${middle} ${x(route[i])} ${middle} ${x(route[i])} ${end}`;
        if (i < route.length - 1) path += ` V${y(route[i]) + BOX}`;
      }
      draw('path', {class: 'rr-e rr-e-' + carries, d: path}, svg);
      const [tip, at] = [y(route.at(-1)), x(route.at(-1))];
      draw('path', {class: 'rr-a-' + carries, d: `M${at} ${tip} l-4 -7 h8 z`}, svg);
    }
    for (const [at, item] of items) drawBox(svg, at, item, at === centre, x(item), y(item), items);
    return svg;
  }

  function drawBox(svg, at, item, marked, x, y, items) {
    const box = boxes[at];
    const group = draw('g', {class: `rr-n rr-${toneOf(box)}${marked ? ' rr-m' : ''}`, tabindex: 0, role: 'button'}, svg);
    draw('title', {}, group, [box.title, box.subtitle, box.name, graph.tones[box.tone][1]].join('\n'));
    draw('rect', {x: x - item.width / 2, y, width: item.width, height: BOX, rx: 5}, group);
    draw('text', {class: 'rr-t', x, y: y + 17}, group, short(box.title, item.width));
    draw('text', {class: 'rr-s', x, y: y + 32}, group, short(box.subtitle, item.width));
    const more = [...box.from, ...box.to].filter(([other]) => !items.has(other)).length;
    if (more > 0) draw('text', {class: 'rr-s', x: x + item.width / 2 - 2, y: y - 3, 'text-anchor': 'end'}, group, '+' + more);
    group.addEventListener('click', () => show(at));
    group.addEventListener('keydown', (event) => { if (event.key === 'Enter') show(at); });
  }

  // --- the map: a cell for every box, down and then across
  const map = make('canvas', {class: 'map', title: 'Every box of the graph, in the order in which they run: a click shows it'});
  function cells() {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(200, host.clientWidth), height = 96;
    const size = Math.max(1, Math.min(16, Math.floor(Math.sqrt(width * height / boxes.length))));
    const perColumn = Math.max(1, Math.floor(height / size));
    return {ratio, width, height, size, perColumn};
  }
  function drawMap() {
    const {ratio, width, height, size, perColumn} = cells();
    map.width = width * ratio;
    map.height = height * ratio;
    map.style.height = height + 'px';
    const context = map.getContext('2d');
    context.scale(ratio, ratio);
    const paints = legend.map((entry) => entry && getComputedStyle(entry.querySelector('rect')).stroke);
    const line = size > 3 ? 1 : 0;
    boxes.forEach((box, i) => {
      context.fillStyle = paints[box.tone];
      context.globalAlpha = hits.length > 0 && !isHit.has(i) ? 0.25 : 1;
      context.fillRect(Math.floor(i / perColumn) * size, (i % perColumn) * size, size - line, size - line);
    });
    context.globalAlpha = 1;
    const style = getComputedStyle(document.body);
    for (const [colour, line] of [[style.backgroundColor, 5], [style.color, 2]]) {
      context.strokeStyle = colour;
      context.lineWidth = line;
      context.strokeRect(Math.floor(current / perColumn) * size - 3, (current % perColumn) * size - 3, size + 6, size + 6);
    }
  }
  map.addEventListener('click', (event) => {
    const {size, perColumn} = cells();
    const frame = map.getBoundingClientRect();
    const at = Math.floor((event.clientX - frame.left) / size) * perColumn + Math.floor((event.clientY - frame.top) / size);
    if (at < boxes.length) show(at);
  });

  // --- search, legend, what is shown
  const search = make('input', {type: 'search', placeholder: 'Find a node or operator', 'aria-label': 'Find in the graph'});
  const found = make('span', {'aria-live': 'polite'});
  const hops = make('select', {'aria-label': 'How far around'}, ...[1, 2, 3, 4, 6].map((n) => make('option', {value: n}, n + (n === 1 ? ' edge' : ' edges') + ' around')));
  hops.value = '3';
  let isHit = new Set();
  const step = (list, by) => list.length === 0 ? current : by > 0 ? list.find((i) => i > current) ?? list[0] : list.findLast((i) => i < current) ?? list.at(-1);
  function look() {
    const wanted = search.value.trim().toLowerCase();
    hits = wanted === '' ? [] : texts.flatMap((text, i) => text.includes(wanted) ? [i] : []);
    isHit = new Set(hits);
    if (hits.length > 0 && !isHit.has(current)) show(hits[0]); else told();
    drawMap();
  }
  const told = () => { found.textContent = search.value.trim() === '' ? '' : isHit.has(current) ? `${hits.indexOf(current) + 1} of ${hits.length}` : 'not found'; };
  search.addEventListener('input', look);
  search.addEventListener('keydown', (event) => { if (event.key === 'Enter') show(step(hits, event.shiftKey ? -1 : 1)); });
  hops.addEventListener('change', () => show(current));
  const button = (text, title, action) => { const made = make('button', {type: 'button', title}, text); made.addEventListener('click', action); return made; };
  const walk = (by) => () => show(hits.length > 0 ? step(hits, by) : Math.min(boxes.length - 1, Math.max(0, current + by)));

  const legend = graph.tones.map(([name, words], t) => {
    if (counts[t] === 0) return null;
    const entry = button('', 'Go to the next of these', () => show(step(boxes.flatMap((box, i) => box.tone === t ? [i] : []), 1)));
    const svg = draw('svg', {class: 'rr', width: 12, height: 12}, entry);
    draw('rect', {x: 1, y: 1, width: 10, height: 10, rx: 2}, draw('g', {class: 'rr-' + name}, svg));
    entry.append(` ${words} (${counts[t]})`);
    return entry;
  });
  const stage = make('div', {class: 'picture', tabindex: '0'});
  const about = make('div', {class: 'about', 'aria-live': 'polite'});

  const byName = new Map(reports.map((node) => [node.name, node]));
  function describe(box) {
    const known = box.origins.map((origin) => byName.get(origin)).filter(Boolean);
    const lasting = known.filter((node) => node.status !== 'removed' && node.status !== 'conversion');
    const lines = (lasting.length > 0 ? lasting : known).slice(0, 6).map((node) => {
      const why = node.reason ? (node.reason.rule ? `rule '${node.reason.rule}', ${node.reason.check}: ` : '') + node.reason.message : node.rule ? `by '${node.rule}'` : '';
      return make('div', {}, make('span', {class: 'tag ' + node.status}, node.status), ` ${node.name} (${node.op}) ${why}`);
    });
    about.replaceChildren(...lines);
  }

  function show(at) {
    current = at;
    stage.replaceChildren(picture(at, Number(hops.value)));
    const marked = stage.querySelector('.rr-m rect').getBBox();
    stage.scrollLeft = marked.x + marked.width / 2 - stage.clientWidth / 2;
    stage.scrollTop = marked.y + marked.height / 2 - stage.clientHeight / 2;
    describe(boxes[at]);
    told();
    drawMap();
  }

  host.replaceChildren(
    make('div', {class: 'tools'}, search, button('‹', 'The one before', walk(-1)), button('›', 'The next one', walk(1)), found, hops),
    make('div', {class: 'tools legend'}, ...legend.filter(Boolean)), map, about, stage);
  // First what most wants to be looked at: what a rule refused, what has no int8 form, else the beginning.
  const first = ['refused', 'unsupported', 'int8'].map((name) => boxes.findIndex((box) => toneOf(box) === name)).find((at) => at >= 0);
  return {
    start: () => show(first ?? 0),
    redraw: drawMap,
    // The box that a node of the original model is in; false where there is none.
    find: (name) => { const at = boxes.findIndex((box) => box.name === name || box.origins.includes(name)); if (at >= 0) show(at); return at >= 0; },
  };
}
