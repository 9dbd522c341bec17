// Reports what is wrong with the layout of the page as it is shown, as a list of
// sentences: a page wider than the window, words broken in the middle, texts cut off
// and texts on top of each other. Called with the width of the window.
(width => {
	const page = document.documentElement;
	const problems = new Set();
	const describe = e => e.tagName.toLowerCase() + [...e.classList].map(c => "." + c).join("") + (e.id ? "#" + e.id : "");
	const style = e => getComputedStyle(e);

	// Text for screen readers only is clipped away. What a container clips or scrolls
	// is cut to the part that is seen.
	const clips = new Map();
	const clip = e => {
		if (!e) return { left: -1e6, top: -1e6, right: 1e6, bottom: 1e6 };
		if (clips.has(e)) return clips.get(e);
		let box = clip(e.parentElement);
		const s = style(e);
		if (box && (s.clipPath !== "none" || !e.checkVisibility({ visibilityProperty: true }))) box = null;
		if (box && s.overflowX !== "visible" && e !== document.body && e !== page) {
			const b = e.getBoundingClientRect();
			box = {
				left: Math.max(box.left, b.left), top: Math.max(box.top, b.top),
				right: Math.min(box.right, b.right), bottom: Math.min(box.bottom, b.bottom),
			};
		}
		clips.set(e, box);
		return box;
	};
	const block = e => (style(e).display.startsWith("inline") && style(e).display === "inline" ? block(e.parentElement) : e);
	const contentWidth = e => {
		const s = style(e);
		return e.clientWidth - parseFloat(s.paddingLeft) - parseFloat(s.paddingRight);
	};
	const range = document.createRange();
	const rects = (node, from, to) => {
		range.setStart(node, from);
		range.setEnd(node, to);
		return [...range.getClientRects()].filter(r => r.width > 0);
	};
	const sameLine = (a, b) => Math.abs(a.top - b.top) < Math.max(a.height, b.height) / 2;

	// Wider than the window.
	if (page.scrollWidth > page.clientWidth || innerWidth > width) {
		problems.add(`the page is ${Math.max(page.scrollWidth, innerWidth)} pixels wide`);
	}
	for (const e of document.querySelectorAll("body *")) {
		const seen = clip(e.parentElement);
		const right = Math.min(e.getBoundingClientRect().right, seen ? seen.right : 0);
		if (right > page.clientWidth + 0.5) problems.add(`${describe(e)} reaches ${Math.round(right)} pixels`);
	}

	// Broken words. Addresses and names in code may break after a separator, compounds after a hyphen that
	// is not a no-break one; anything else only when it is longer than a line. Blocks of code wrap like a terminal.
	const breaks = (node, from, word) => {
		const list = [];
		let last = null;
		for (let i = 0; i < word.length; i++) {
			const r = rects(node, from + i, from + i + 1)[0];
			if (r && last && !sameLine(last, r)) list.push(i);
			if (r) last = r;
		}
		return list;
	};
	const checkWord = (node, from, word) => {
		const parts = rects(node, from, from + word.length);
		if (parts.length < 2 || parts.every(r => sameLine(r, parts[0]))) return;
		const parent = node.parentElement;
		const address = /[/@_]|\w\.\w|^[A-Za-z]*\d/.test(word) && !/^\d+,\d+$/.test(word);
		const machine = address || parent.closest("code, pre, .address");
		const room = machine ? contentWidth(block(parent)) : contentWidth(parent.closest("main, .masthead-in, .foot-in, .demo") || document.body);
		const cuts = breaks(node, from, word);
		cuts.forEach((at, i) => {
			if (word[at - 1] === "-" || machine && "/.?&".includes(word[at - 1])) return;
			// The piece that had to stay together: up to the separators around the break.
			let start = 0, end = word.length;
			if (machine) {
				start = Math.max(...[..."/.-?&"].map(c => word.lastIndexOf(c, at - 1))) + 1;
				const next = word.slice(at).search(/[/.\-?&]/);
				if (next >= 0) end = at + next + 1;
			}
			const length = rects(node, from + start, from + end).reduce((sum, r) => sum + r.width, 0);
			if (length <= room) {
				problems.add(`"${word}" in ${describe(parent)} is broken after "${word.slice(0, at)}" (${Math.round(length)} of ${Math.round(room)} pixels)`);
			}
		});
	};

	// Texts with a shape around them must stay inside it.
	const shapes = "button, .button, .note, .state, .laurel, .tags a, .diffs li, .pager li > *, .account-menu a, .menu a, .route b, .reference code";
	const checkShape = (shape, parts) => {
		const b = shape.getBoundingClientRect(), boxes = style(shape).display === "inline" ? [...shape.getClientRects()] : [b];
		if (parts.some(r => !boxes.some(b => r.left > b.left - 0.5 && r.right < b.right + 0.5 && r.top > b.top - r.height / 2 && r.bottom < b.bottom + r.height / 2))) {
			problems.add(`${describe(shape)} "${shape.textContent}" does not fit into its shape`);
		}
	};

	const lines = [];
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let node = walker.nextNode(); node; node = walker.nextNode()) {
		const parent = node.parentElement;
		if (!node.data.trim() || parent.closest("script, style, option, .skip")) continue;
		const seen = clip(parent);
		if (!seen) continue;
		const whole = rects(node, 0, node.length);
		if (!parent.closest("pre") && whole.some(r => !sameLine(r, whole[0]))) {
			for (const m of node.data.matchAll(/\S+/g)) checkWord(node, m.index, m[0]);
		}
		const shape = parent.closest(shapes);
		if (shape) checkShape(shape, whole);
		for (const r of whole) {
			// A line's box is higher than its letters.
			const box = {
				node, left: Math.max(r.left + 1, seen.left), right: Math.min(r.right - 1, seen.right),
				top: Math.max(r.top + r.height * 0.3, seen.top), bottom: Math.min(r.bottom - r.height * 0.3, seen.bottom),
			};
			if (box.left < box.right && box.top < box.bottom) lines.push(box);
		}
	}

	// Texts on top of each other.
	lines.sort((a, b) => a.top - b.top);
	lines.forEach((a, i) => {
		for (let j = i + 1; j < lines.length && lines[j].top < a.bottom; j++) {
			const b = lines[j];
			if (a.left < b.right && b.left < a.right) {
				problems.add(`"${a.node.data.trim().slice(0, 40)}" and "${b.node.data.trim().slice(0, 40)}" overlap in ${describe(b.node.parentElement)}`);
			}
		}
	});

	// Texts that are cut off. A select must have room for every choice.
	for (const e of document.querySelectorAll("select")) {
		if (!clip(e)) continue;
		const free = e.cloneNode(true);
		Object.assign(free.style, { position: "absolute", visibility: "hidden", width: "max-content", minWidth: "0" });
		free.removeAttribute("id");
		e.after(free);
		const needed = free.offsetWidth;
		free.remove();
		if (needed > e.offsetWidth) problems.add(`a choice of ${describe(e)} needs ${needed} pixels and has ${e.offsetWidth}`);
	}
	return [...problems];
})
