"use strict";
// A picture that can be moved, searched and asked. The data: views, each with its boxes in the order of their ids.
(() => {
  const { views, first } = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const stage = byId("stage");
  const map = byId("map");
  const SVG = "http://www.w3.org/2000/svg";
  const pictures = [...stage.querySelectorAll("svg.rr")];
  let current = 0;
  let chosen = -1;
  let tone = null;
  let hits = [];
  let hit = -1;

  const make = (tag, text, parent, name) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (name) element.className = name;
    if (parent) parent.append(element);
    return element;
  };
  const view = () => views[current];
  const picture = () => pictures[current];
  const boxOf = (node) => byId(view().id + node);

  // --- moving and zooming: the svg's viewBox
  const cameras = pictures.map((svg) => ({ x: 0, y: 0, scale: 1, width: svg.viewBox.baseVal.width, height: svg.viewBox.baseVal.height }));
  const camera = () => cameras[current];
  const area = () => stage.getBoundingClientRect();
  const show = () => {
    const c = camera();
    const { width, height } = area();
    picture().setAttribute("viewBox", [c.x, c.y, width / c.scale, height / c.scale].join(" "));
    drawMap();
  };
  const zoom = (factor, at) => {
    const c = camera();
    const { width, height } = area();
    const x = at ? at.x : width / 2;
    const y = at ? at.y : height / 2;
    const scale = Math.min(4, Math.max(0.01, c.scale * factor));
    c.x += x / c.scale - x / scale;
    c.y += y / c.scale - y / scale;
    c.scale = scale;
    show();
  };
  // All of it; `enter` shows the beginning instead where all of it would be too small to read.
  const fit = () => {
    const c = camera();
    const { width, height } = area();
    c.scale = Math.min(1.25, width / c.width, height / c.height);
    c.x = (c.width - width / c.scale) / 2;
    c.y = Math.min(0, (c.height - height / c.scale) / 2);
    show();
  };
  const enter = () => {
    fit();
    const c = camera();
    if (c.scale > 0.5 || view().nodes.length === 0) return;
    const { width } = area();
    const top = view().nodes.reduce((a, b) => (b.box[1] < a.box[1] || (b.box[1] === a.box[1] && b.box[0] < a.box[0]) ? b : a));
    c.scale = Math.max(Math.min(0.85, width / c.width), 0.6);
    c.y = 0;
    c.x = c.width * c.scale <= width ? (c.width - width / c.scale) / 2 : Math.max(0, Math.min(top.box[0] + top.box[2] / 2 - width / c.scale / 2, c.width - width / c.scale));
    show();
  };
  const centre = (node) => {
    const c = camera();
    const [x, y, w, h] = view().nodes[node].box;
    const { width, height } = area();
    c.scale = Math.max(c.scale, Math.min(1, width / (w + 80), height / (h + 80)));
    c.x = x + w / 2 - width / c.scale / 2;
    c.y = y + h / 2 - height / c.scale / 2;
    show();
  };

  const pointers = new Map();
  let moved = 0;
  stage.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (pointers.size === 1) moved = 0;
  });
  stage.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY };
    const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, p]) => p);
    const c = camera();
    moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (moved > 4 && !stage.hasPointerCapture(event.pointerId)) {
      stage.setPointerCapture(event.pointerId);
      stage.classList.add("moving");
    }
    pointers.set(event.pointerId, now);
    if (others.length === 1) {
      const distance = (a) => Math.hypot(a.x - others[0].x, a.y - others[0].y);
      const box = area();
      zoom(distance(now) / Math.max(distance(before), 1), { x: (now.x + others[0].x) / 2 - box.left, y: (now.y + others[0].y) / 2 - box.top });
    } else if (moved > 4) {
      c.x -= (now.x - before.x) / c.scale;
      c.y -= (now.y - before.y) / c.scale;
      show();
    }
  });
  const release = (event) => {
    pointers.delete(event.pointerId);
    stage.classList.remove("moving");
  };
  stage.addEventListener("pointerup", release);
  stage.addEventListener("pointercancel", release);
  stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = area();
    const pixels = event.deltaMode === 1 ? 16 : 1;
    if (event.ctrlKey || !event.shiftKey) {
      zoom(Math.exp(-event.deltaY * pixels * 0.0016), { x: event.clientX - box.left, y: event.clientY - box.top });
    } else {
      camera().x += ((event.deltaX || event.deltaY) * pixels) / camera().scale;
      show();
    }
  }, { passive: false });
  stage.addEventListener("click", (event) => {
    if (moved > 4) return;
    const box = event.target.closest(".rr-n");
    if (box && box.id.startsWith(view().id)) choose(Number(box.id.slice(view().id.length)), false);
    else if (!box) choose(-1, false);
  });
  document.addEventListener("keydown", (event) => {
    if (event.target.matches?.("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = 80 / camera().scale;
    const steps = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step], PageUp: [0, -8 * step], PageDown: [0, 8 * step] };
    if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") fit();
    else if (event.key === "Escape") choose(-1, false);
    else if (event.key === "/") byId("search").focus();
    else if (steps[event.key]) {
      camera().x += steps[event.key][0];
      camera().y += steps[event.key][1];
      show();
    } else return;
    event.preventDefault();
  });
  byId("in").onclick = () => zoom(1.25);
  byId("out").onclick = () => zoom(0.8);
  byId("fit").onclick = fit;
  window.addEventListener("resize", show);

  // --- the small map: a tall graph is shown wider than it is
  const mapFrame = () => {
    const down = map.height / camera().height;
    const across = Math.min(map.width / camera().width, down * 12);
    return { across, down, left: (map.width - camera().width * across) / 2 };
  };
  function drawMap() {
    const ratio = window.devicePixelRatio || 1;
    map.width = map.clientWidth * ratio;
    map.height = map.clientHeight * ratio;
    const context = map.getContext("2d");
    const { across, down, left } = mapFrame();
    for (const node of view().nodes) {
      context.fillStyle = view().paints[node.tone];
      const [x, y, w, h] = node.box;
      context.fillRect(left + x * across, y * down, Math.max(w * across, 1.5), Math.max(h * down, 1));
    }
    const { width, height } = area();
    const c = camera();
    context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--accent");
    context.lineWidth = 2 * ratio;
    context.strokeRect(left + c.x * across, c.y * down, (width / c.scale) * across, (height / c.scale) * down);
  }
  const jump = (event) => {
    if (event.buttons !== 1) return;
    const box = map.getBoundingClientRect();
    const ratio = map.width / box.width;
    const { across, down, left } = mapFrame();
    const c = camera();
    const { width, height } = area();
    c.x = ((event.clientX - box.left) * ratio - left) / across - width / c.scale / 2;
    c.y = ((event.clientY - box.top) * ratio) / down - height / c.scale / 2;
    show();
  };
  map.addEventListener("pointerdown", jump);
  map.addEventListener("pointermove", jump);

  // --- details of one box
  function choose(node, go) {
    picture().querySelectorAll(".chosen, .near").forEach((e) => e.classList.remove("chosen", "near"));
    chosen = node;
    byId("details").hidden = node < 0;
    if (node >= 0) {
      boxOf(node).classList.add("chosen");
      picture().querySelectorAll(`[data-f="${node}"], [data-t="${node}"]`).forEach((e) => e.classList.add("near"));
      describe(node);
      history.replaceState(null, "", "#" + encodeURIComponent(view().label + ":" + node));
    }
    if (go) centre(node);
    else show();
  }
  function describe(index) {
    const node = view().nodes[index];
    const about = byId("about");
    about.replaceChildren();
    make("h2", node.title, about);
    make("p", node.subtitle, about, "sub");
    const list = make("dl", undefined, about);
    for (const [heading, text] of node.details) {
      if (!list.lastChild || list.dataset.heading !== heading) make("dt", heading, list);
      list.dataset.heading = heading;
      make("dd", text, list);
    }
    const links = (heading, targets) => {
      if (targets.length === 0) return;
      make("dt", heading, list);
      const cell = make("dd", undefined, list);
      for (const [label, action] of targets) make("button", label, cell).onclick = action;
    };
    const nameOf = (other) => view().nodes[other].title + (view().nodes[other].name ? "  " + view().nodes[other].name : "");
    const beside = (from, to) => [...new Set([...picture().querySelectorAll(`[${from}="${index}"]`)].map((e) => Number(e.getAttribute(to))))].map((other) => [nameOf(other), () => choose(other, true)]);
    links("reads from", beside("data-t", "data-f"));
    links("read by", beside("data-f", "data-t"));
    views.forEach((other, at) => {
      if (at === current || node.origins.length === 0) return;
      const same = other.nodes.flatMap((n, i) => (n.origins.some((o) => node.origins.includes(o)) ? [i] : []));
      links(other.label, same.slice(0, 8).map((i) => [other.nodes[i].title + "  " + other.nodes[i].name, () => { open(at); choose(i, true); }]));
    });
  }
  byId("close").onclick = () => choose(-1, false);

  // --- search
  const search = byId("search");
  const look = () => {
    picture().querySelectorAll(".hit").forEach((e) => e.classList.remove("hit"));
    const wanted = search.value.trim().toLowerCase();
    hits = wanted === "" ? [] : view().nodes.flatMap((node, i) => (node.text.includes(wanted) ? [i] : []));
    hit = -1;
    for (const i of hits) boxOf(i).classList.add("hit");
    byId("found").textContent = wanted === "" ? "" : String(hits.length);
  };
  search.addEventListener("input", look);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { search.value = ""; look(); search.blur(); }
    if (event.key !== "Enter" || hits.length === 0) return;
    hit = (hit + (event.shiftKey ? -1 : 1) + hits.length) % hits.length;
    byId("found").textContent = `${hit + 1} of ${hits.length}`;
    choose(hits[hit], true);
  });

  // --- legend, views, theme
  const light = () => {
    picture().classList.toggle("dim", tone !== null);
    view().nodes.forEach((node, i) => boxOf(i).classList.toggle("lit", node.tone === tone));
  };
  function drawLegend() {
    const legend = byId("legend");
    legend.replaceChildren();
    for (const [name, words, count] of view().legend) {
      const button = make("button", undefined, legend);
      const svg = document.createElementNS(SVG, "svg");
      svg.setAttribute("class", "rr");
      const group = document.createElementNS(SVG, "g");
      group.setAttribute("class", "rr-" + name);
      const rect = document.createElementNS(SVG, "rect");
      for (const [key, value] of [["x", 1], ["y", 1], ["width", 10], ["height", 10], ["rx", 2]]) rect.setAttribute(key, value);
      group.append(rect);
      svg.append(group);
      button.append(svg, `${words} (${count})`);
      button.title = "Show these, fade the others";
      button.setAttribute("aria-pressed", String(tone === name));
      button.onclick = () => { tone = tone === name ? null : name; drawLegend(); light(); };
    }
  }
  function open(at) {
    current = at;
    chosen = -1;
    tone = null;
    byId("details").hidden = true;
    pictures.forEach((svg, i) => svg.toggleAttribute("hidden", i !== at));
    [...byId("views").children].forEach((tab, i) => tab.setAttribute("aria-selected", String(i === at)));
    drawLegend();
    light();
    look();
    show();
  }
  views.forEach((v, at) => {
    for (const node of v.nodes) {
      node.text = [node.title, node.subtitle, node.name, ...node.names, ...node.details.map((d) => d[1])].join("\n").toLowerCase();
    }
    if (views.length < 2) return;
    const tab = make("button", v.label, byId("views"));
    tab.setAttribute("role", "tab");
    tab.onclick = () => open(at);
  });
  const theme = byId("theme");
  const paint = () => {
    if (theme.value) document.documentElement.dataset.theme = theme.value;
    else delete document.documentElement.dataset.theme;
    show();
  };
  theme.addEventListener("change", paint);

  const [label, node] = decodeURIComponent(location.hash.slice(1)).split(":");
  const linked = views.findIndex((v) => v.label === label);
  views.forEach((v, at) => { open(at); enter(); });
  open(linked >= 0 ? linked : first);
  if (linked >= 0 && view().nodes[Number(node)]) choose(Number(node), true);
})();
