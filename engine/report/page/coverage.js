'use strict';
// All text of the model reaches the page through textContent, never as markup.
(function () {
  const data = JSON.parse(document.getElementById('data').textContent);
  const kFirstNames = 3;  // of a row that lists nodes
  const kFirstRows = 200;
  const kEverything = '*';
  const byId = (id) => document.getElementById(id);

  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
    for (const child of children) element.append(child);
    return element;
  }

  const percent = (share) => Math.floor(share * 1000) / 10 + ' %';
  function scaled(number) {
    const units = [[1e12, ' T'], [1e9, ' G'], [1e6, ' M'], [1e3, ' k']];
    for (const [size, unit] of units) if (number >= size) return (number / size).toPrecision(3) + unit;
    return String(number);
  }
  const known = (entry) => entry.int8 + entry.float > 0;
  const shared = (entry) => known(entry) ? percent(entry.share) : entry.unknown > 0 ? 'unknown' : 'none';
  const shareOf = (entry) => known(entry) ? entry.share : undefined;  // no bar where there is nothing to share
  const counts = (map) => Object.entries(map).map(([what, count]) => count > 1 ? what + ' (' + count + ')' : what).join(', ');

  // --- tables: a click on a head sorts, the box filters

  // columns: {head, value(row): text or number to sort by, show(row)?: node or text, number?: bool, kind?: css class}
  function table(section, columns, rows, options) {
    section.querySelectorAll('.tools, .scroll').forEach((old) => old.remove());
    const state = {sort: -1, down: false, query: '', pick: '', all: false};
    const tools = make('div', {class: 'tools'});
    const search = make('input', {type: 'search', placeholder: 'Search', 'aria-label': 'Search this table'});
    search.addEventListener('input', () => { state.query = search.value.toLowerCase(); draw(); });
    tools.append(search);
    const usual = (options && options.usual) || (() => true);
    if (options && options.pick) tools.append(picker(options, rows, state, draw));
    const told = make('span', {'aria-live': 'polite'});
    const more = make('button', {type: 'button'}, 'Show all');
    more.addEventListener('click', () => { state.all = true; draw(); });
    tools.append(told, more);

    const heads = columns.map((column, i) => {
      const button = make('button', {type: 'button'}, column.head);
      const cell = make('th', {scope: 'col', class: column.number ? 'number' : ''}, button);
      button.addEventListener('click', () => {
        state.down = state.sort === i ? !state.down : Boolean(column.number);
        state.sort = i;
        heads.forEach((head) => head.removeAttribute('aria-sort'));
        cell.setAttribute('aria-sort', state.down ? 'descending' : 'ascending');
        draw();
      });
      return cell;
    });
    const body = make('tbody');
    section.append(tools, make('div', {class: 'scroll', tabindex: '0'}, make('table', {}, make('thead', {}, make('tr', {}, ...heads)), body)));

    const texts = rows.map((row) => columns.map((column) => String(column.value(row))).join('\n').toLowerCase());
    function draw() {
      let shown = rows.map((row, i) => i).filter((i) => texts[i].includes(state.query) && picked(rows[i]));
      if (state.sort >= 0) {
        const value = columns[state.sort].value;
        const compare = (a, b) => typeof a === 'number' ? a - b : String(a).localeCompare(String(b));
        shown.sort((a, b) => (compare(value(rows[a]), value(rows[b])) || a - b) * (state.down ? -1 : 1));
      }
      const cut = state.all ? shown.length : Math.min(shown.length, kFirstRows);
      told.textContent = shown.length + ' of ' + rows.length + (cut < shown.length ? ', the first ' + cut + ' shown' : '');
      more.hidden = cut === shown.length;
      body.replaceChildren(...shown.slice(0, cut).map((i) => rowOf(rows[i])));
    }
    function picked(row) {
      if (state.pick === '') return usual(row);
      return state.pick === kEverything || options.pick(row) === state.pick;
    }
    function rowOf(row) {
      return make('tr', {}, ...columns.map((column) => {
        const content = column.show ? column.show(row) : column.value(row);
        const cell = make('td', {class: (column.number ? 'number ' : '') + (column.kind || '')});
        cell.append(content instanceof Node ? content : column.number && content === 0 ? '' : String(content));
        return cell;
      }));
    }
    draw();
  }

  function picker(options, rows, state, draw) {
    const select = make('select', {'aria-label': 'Only these'});
    if (options.usual) select.append(make('option', {value: ''}, options.name));
    select.append(make('option', {value: options.usual ? kEverything : ''}, 'all'));
    for (const word of new Set(rows.map(options.pick))) select.append(make('option', {value: word}, word));
    select.addEventListener('change', () => { state.pick = select.value; draw(); });
    return select;
  }

  // The end of a place says enough; the whole is one hover away.
  const place = (of) => ({head: 'Place', value: of, kind: 'place', show: (row) => make('span', {title: of(row)}, of(row).split('/').slice(-2).join('/'))});

  // --- sections

  function figure(number, label, share) {
    const element = make('div', {class: 'figure'}, make('b', {}, number), make('span', {}, label));
    if (share !== undefined) {
      const bar = make('i');
      bar.style.width = share * 100 + '%';
      element.append(make('div', {class: 'bar'}, bar));
    }
    return element;
  }

  const counted = (count, what) => count === 1 ? what : what + 's';
  function macLabel(macs) {
    const told = known(macs) || macs.unknown === 0 ? scaled(macs.int8) + ' of ' + scaled(macs.int8 + macs.float) + ' multiply-adds on int8' : 'multiply-adds on int8';
    if (macs.unknown === 0) return told;
    return told + ': those of ' + macs.unknown + ' ' + counted(macs.unknown, 'operator') + ' are not known, since shapes are not; --dim NAME=SIZE gives a size';
  }

  function figures(of) {
    const nodes = of.nodes_share, macs = of.macs_share, around = of.boundary.activations;
    const faulty = of.faults === undefined ? data.reports.reduce((sum, report) => sum + report.faults.length, 0) : of.faults.length;
    byId('figures').replaceChildren(
      figure(shared(nodes), nodes.int8 + ' of ' + (nodes.int8 + nodes.float) + ' operators on int8', shareOf(nodes)),
      figure(shared(macs), macLabel(macs), shareOf(macs)),
      figure(String(around.count), [counted(around.count, 'conversion') + ' between int8 and float', ...(around.bytes > 0 ? [scaled(around.bytes) + 'B'] : []), ...(around.unknown > 0 ? [around.unknown + ' of unknown size'] : [])].join(', ')),
      figure(String(faulty), counted(faulty, 'known fault') + ' hit'));
  }

  function outcome(row) {
    const parts = [];
    const into = Object.keys(row.into).map((op) => op === row.op ? 'the operator itself, on int8' : op);
    if (into.length > 0) parts.push(into.join(', '));
    if (row.float > 0) parts.push('float: ' + counts(row.reasons));
    if (row.gone > 0) parts.push('gone: ' + counts(row.removed_by));
    if (Object.keys(row.mismatches).length > 0) parts.push('not as its group says: ' + counts(row.mismatches));
    return parts.join('; ');
  }

  function ops(rows) {
    table(byId('ops'), [
      {head: 'Operator', value: (row) => row.op, kind: 'name'},
      {head: 'Group', value: (row) => row.group},
      {head: 'Count', value: (row) => row.count, number: true},
      {head: 'int8', value: (row) => row.int8, number: true},
      {head: 'Moved', value: (row) => row.moved, number: true},
      {head: 'Float', value: (row) => row.float, number: true},
      {head: 'Gone', value: (row) => row.gone, number: true},
      {head: 'What became of it', value: outcome},
    ], rows, {pick: (row) => row.group});
  }

  function why(node) {
    if (node.reason) return (node.reason.rule ? "rule '" + node.reason.rule + "', " + node.reason.check + ': ' : '') + node.reason.message;
    return node.rule ? "by '" + node.rule + "'" : '';
  }

  const nameOf = (node) => (node.inside ? node.inside + '/' : '') + node.name;
  function jump(node) {
    if (!explorer) return nameOf(node);
    const button = make('button', {type: 'button', class: 'jump', title: 'Show it in the graph'}, nameOf(node));
    button.addEventListener('click', () => {
      extent('part');
      if (!explorer.find(node.name) && !(node.inside && explorer.find(node.inside.split('/')[0]))) button.title = 'Nothing of the rewritten graph stands for it';
      byId('graph').scrollIntoView();
    });
    return button;
  }

  // --- the graph: all of it where that is drawn, and the part around a node

  let explorer = null;
  function extent(which) {
    for (const choice of document.getElementsByName('extent')) choice.checked = choice.value === which;
    const whole = byId('graph').querySelector('.whole:not([hidden]), .whole.off');
    if (whole) { whole.hidden = which !== 'whole'; whole.classList.toggle('off', whole.hidden); }
    byId('explorer').hidden = which !== 'part';
    if (which === 'part') explorer.start();
  }
  function pictured(report, chosen) {
    byId('graph').querySelectorAll('.whole').forEach((one) => { one.hidden = one.dataset.report !== chosen; one.classList.remove('off'); });
    const graph = report && byId('graph').querySelector(`script.graph[data-report="${chosen}"]`);
    byId('graph').hidden = !graph;
    explorer = graph ? graphExplorer(byId('explorer'), JSON.parse(graph.textContent), report.nodes) : null;
    if (!graph) return;
    const whole = byId('graph').querySelector('.whole:not([hidden])') !== null;
    byId('extent').hidden = !whole;
    extent(whole ? 'whole' : 'part');
  }

  function nodes(report) {
    const quantizers = new Set(report.conversions.map((one) => one.op));
    table(byId('nodes'), [
      {head: 'Node', value: nameOf, kind: 'name', show: jump},
      {head: 'Operator', value: (node) => node.op},
      {head: 'Became', value: (node) => node.status, show: (node) => make('span', {class: 'tag ' + node.status}, node.status)},
      {head: 'Now', value: (node) => node.into && node.into !== node.op ? node.into : ''},
      {head: 'Multiply-adds', value: (node) => node.macs || 0, show: (node) => node.macs ? scaled(node.macs) : '', number: true},
      {head: 'Converted', value: (node) => node.conversions ? node.conversions.bytes : 0, show: (node) => !node.conversions ? '' : node.conversions.bytes > 0 ? scaled(node.conversions.bytes) + 'B' : node.conversions.count + ' times', number: true},
      {head: 'Why', value: why},
      place((node) => (node.reason && node.reason.place) || node.place || ''),
    ], report.nodes, {pick: (node) => node.status, usual: (node) => !quantizers.has(node.op), name: 'operators, without Q and DQ'});
  }

  function conditions(rule) {
    const list = make('ul');
    for (const one of rule.conditions) list.append(make('li', {}, one.text + ': held ' + one.held + ', refused ' + one.refused));
    for (const [check, count] of Object.entries(rule.checks)) list.append(make('li', {}, 'built-in check ' + check + ': refused ' + count));
    if (list.children.length === 0) return '';
    return make('details', {}, make('summary', {}, list.children.length + ' asked'), list);
  }

  function rules(rows) {
    const columns = [
      {head: 'Rule', value: (row) => row.rule, kind: 'name'},
      {head: 'Group', value: (row) => row.group},
      {head: 'Fired', value: (row) => row.fired, number: true},
      {head: 'Refused', value: (row) => row.refused, number: true},
    ];
    if (rows.length > 0 && rows[0].fired_at) {
      columns.push({head: 'Fired at', value: (row) => row.fired_at.slice(0, 4).join(', ') + (row.fired_at.length > 4 ? ', ...' : ''), kind: 'name'});
      columns.push({head: 'Conditions', value: (row) => row.conditions.map((one) => one.text).join(' '), show: conditions});
    } else {
      columns.push({head: 'In models', value: (row) => row.models, number: true});
    }
    columns.push(place((row) => row.place));
    table(byId('rules'), columns, rows, {pick: (row) => row.group});
  }

  // Hits of one fault of one rule in a row, with the nodes that have it.
  function faultRows(hits) {
    const rows = new Map();
    for (const hit of hits) {
      const key = JSON.stringify([hit.rule, hit.id, hit.op]);
      if (!rows.has(key)) rows.set(key, {...hit, nodes: []});
      rows.get(key).nodes.push(hit.node);
    }
    return [...rows.values()];
  }

  function firstOf(names) {
    const rest = names.length - kFirstNames;
    return make('span', {title: names.join('\n')}, names.slice(0, kFirstNames).join(', ') + (rest > 0 ? ' and ' + rest + ' more' : ''));
  }

  function faults(report) {
    byId('faults').hidden = report.faults.length === 0;
    table(byId('faults'), [
      {head: 'Nodes', value: (hit) => hit.nodes.length, number: true},
      {head: 'Which', value: (hit) => hit.nodes.join(' '), kind: 'name', show: (hit) => firstOf(hit.nodes)},
      {head: 'Operator', value: (hit) => hit.op},
      {head: 'Effect', value: (hit) => hit.effect},
      {head: 'What is wrong', value: (hit) => hit.note},
      {head: 'Fault', value: (hit) => hit.id, show: (hit) => /^https:\/\//.test(hit.link || '') ? make('a', {href: hit.link, rel: 'noreferrer'}, hit.id) : hit.id},
      {head: 'Rule', value: (hit) => hit.rule},
      place((hit) => hit.place),
    ], faultRows(report.faults));
  }

  function models() {
    byId('models').hidden = false;
    table(byId('models'), [
      {head: 'Model', value: (report) => report.model, kind: 'name', show: link},
      {head: 'Operators', value: (report) => report.nodes_share.int8 + report.nodes_share.float, number: true},
      {head: 'On int8', value: (report) => report.nodes_share.share, show: (report) => shared(report.nodes_share), number: true},
      {head: 'Multiply-adds on int8', value: (report) => report.macs_share.share, show: (report) => shared(report.macs_share), number: true},
      {head: 'Conversions', value: (report) => report.boundary.activations.count, number: true},
      {head: 'Faults', value: (report) => report.faults.length, number: true},
    ], data.reports);
  }

  function link(report) {
    const button = make('button', {type: 'button'}, report.model);
    button.addEventListener('click', () => { byId('model').value = String(data.reports.indexOf(report)); show(); });
    return button;
  }

  function show() {
    const chosen = byId('model').value;
    const report = data.reports[Number(chosen)];
    const one = chosen !== '' && report !== undefined;
    const first = one ? report : data.reports[0];
    const target = first ? first.rules + ', level ' + first.level + ', ' + first.ep + ', ' + first.platform : '';
    byId('subject').textContent = (one ? report.model : data.reports.length + ' models') + ' — ' + target;
    for (const id of ['nodes', 'faults']) byId(id).hidden = !one;
    figures(one ? report : data.total);
    ops(one ? report.ops : data.total.ops);
    rules(one ? report.by_rule : data.total.rules);
    pictured(one ? report : null, chosen);
    if (one) { nodes(report); faults(report); }
  }

  function start() {
    const select = byId('model');
    if (data.reports.length !== 1) select.append(make('option', {value: ''}, 'all of them'));
    data.reports.forEach((report, i) => select.append(make('option', {value: String(i)}, report.model)));
    select.addEventListener('change', show);
    byId('which').hidden = data.reports.length === 1;
    byId('theme').addEventListener('change', () => {
      const theme = byId('theme').value;
      if (theme) document.documentElement.dataset.theme = theme; else delete document.documentElement.dataset.theme;
      if (explorer) explorer.redraw();
    });
    for (const choice of document.getElementsByName('extent')) choice.addEventListener('change', () => extent(choice.value));
    window.addEventListener('resize', () => { if (explorer) explorer.redraw(); });
    if (data.failed.length > 0) {
      byId('failed').hidden = false;
      table(byId('failed'), [{head: 'Model', value: (one) => one.model, kind: 'name'}, {head: 'Why', value: (one) => one.message}], data.failed);
    }
    if (data.reports.length > 1) models();
    show();
    document.documentElement.dataset.ready = 'yes';
  }
  start();
})();
