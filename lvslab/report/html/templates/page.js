"use strict";
// Steps through hops. Everything it shows is in the page already: without it the tables stay complete.
(() => {
  const MS_PER_LEG = 650;
  const PAUSE_MS = 1100;
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  class Player {
    constructor(section) {
      this.section = section;
      this.find = (selector) => section.querySelector(selector);
      this.conversations = [...section.querySelectorAll(".conversation")];
      this.chooseConversation = this.find(".choose-conversation");
      this.choosePacket = this.find(".choose-packet");
      this.buttons = new Map([...section.querySelectorAll("[data-go]")].map((each) => [each.dataset.go, each]));
      this.now = this.find(".now");
      this.svg = this.find(".drawing svg");
      this.timer = 0;
      this.place = 0;
      this.detailsOpen = false;
      this.find(".controls").hidden = false;
      this.now.hidden = false;
      this.chooseConversation.addEventListener("change", () => this.filter(this.chooseConversation.value));
      this.choosePacket.addEventListener("change", () => this.goTo(this.rowsOf(this.choosePacket.value)[0]));
      for (const [name, button] of this.buttons) button.addEventListener("click", () => this.go(name));
      section.addEventListener("click", (event) => this.clicked(event));
      this.filter(this.chooseConversation.value);
    }

    filter(id) {
      this.pause();
      for (const each of this.conversations) each.hidden = id !== "" && each.id !== id;
      this.rows = [...this.section.querySelectorAll(".conversation:not([hidden]) tr.hop")];
      const options = [...this.section.querySelectorAll(".conversation:not([hidden]) tbody")].map((body) => {
        const option = document.createElement("option");
        option.value = body.id;
        option.textContent = body.querySelector("tr.packet").textContent.trim();
        return option;
      });
      this.choosePacket.replaceChildren(...options);
      this.show(0, false);
    }

    rowsOf(packet) {
      return this.rows.filter((row) => row.parentElement.id === packet);
    }

    go(name) {
      if (name === "play") return this.timer ? this.pause() : this.play();
      this.pause();
      const last = this.rows.length - 1;
      const places = { first: 0, previous: this.place - 1, next: this.place + 1, last };
      return this.show(Math.min(Math.max(places[name], 0), last), name === "next");
    }

    goPacket(step) {
      const packets = [...this.choosePacket.options].map((option) => option.value);
      const wanted = packets.indexOf(this.row.parentElement.id) + step;
      if (packets[wanted]) this.goTo(this.rowsOf(packets[wanted])[0]);
    }

    goTo(row) {
      this.pause();
      const place = this.rows.indexOf(row);
      if (place >= 0) this.show(place, false);
    }

    clicked(event) {
      const row = event.target.closest("tr.hop");
      if (row && !event.target.closest("a, summary, details, button")) this.goTo(row);
    }

    play() {
      const button = this.buttons.get("play");
      button.classList.add("playing");
      button.setAttribute("aria-label", this.section.dataset.pause);
      if (this.place === this.rows.length - 1) this.show(0, false);
      this.timer = setInterval(() => {
        if (this.place >= this.rows.length - 1) this.pause();
        else this.show(this.place + 1, true);
      }, PAUSE_MS);
    }

    pause() {
      if (!this.timer) return;
      clearInterval(this.timer);
      this.timer = 0;
      const button = this.buttons.get("play");
      button.classList.remove("playing");
      button.setAttribute("aria-label", this.section.dataset.play);
    }

    show(place, moving) {
      this.place = place;
      this.row?.classList.remove("current");
      this.row?.removeAttribute("aria-current");
      this.row = this.rows[place];
      if (!this.row) return;
      this.row.classList.add("current");
      this.row.setAttribute("aria-current", "step");
      this.choosePacket.value = this.row.parentElement.id;
      for (const name of ["first", "previous"]) this.buttons.get(name).disabled = place === 0;
      for (const name of ["next", "last"]) this.buttons.get(name).disabled = place === this.rows.length - 1;
      this.describe(place);
      this.draw(moving && !still.matches);
      this.reveal();
    }

    describe(place) {
      const card = this.row.querySelector(".hop-card").cloneNode(true);
      const said = this.section.dataset.place.replace("{number}", place + 1).replace("{total}", this.rows.length);
      const frame = this.row.querySelector("th a");
      this.find(".now .place").textContent =
        `${said} · ${frame.getAttribute("aria-label")} · ${this.row.dataset.where} ${card.querySelector(".direction").firstChild.textContent.trim()}`;
      const sentence = this.row.querySelector(".hop-card .sentence, .arrow p");
      const title = this.row.parentElement.querySelector("tr.packet");
      this.find(".said .sentence").textContent = (sentence ?? title).textContent.trim();
      const details = card.querySelector("details");
      details.open = this.detailsOpen;
      details.addEventListener("toggle", () => { this.detailsOpen = details.open; });
      this.find(".now .shown").replaceChildren(card);
    }

    draw(moving) {
      if (!this.svg) return;
      const ways = this.rowsOf(this.row.parentElement.id)
        .filter((row) => this.rows.indexOf(row) <= this.place)
        .map((row) => points(row.dataset.way));
      const packet = this.svg.querySelector(".packet");
      const way = ways[ways.length - 1];
      this.svg.querySelector(".trail").setAttribute("points", ways.flat().map((each) => each.join()).join(" "));
      packet.setAttribute("visibility", way.length ? "visible" : "hidden");
      packet.classList.toggle("wrapped", this.row.dataset.depth !== "0");
      if (!way.length) return;
      const [x, y] = way[way.length - 1];
      packet.setAttribute("transform", `translate(${x} ${y})`);
      if (moving && way.length > 1) packet.animate(frames(way), { duration: MS_PER_LEG, easing: "ease-in-out" });
      this.follow(x);
    }

    // Where the drawing is wider than the screen, keep the packet in sight.
    follow(x) {
      const region = this.find(".drawing .scroll");
      const box = this.svg.viewBox.baseVal;
      const wanted = ((x - box.x) / box.width) * region.scrollWidth - region.clientWidth / 2;
      region.scrollTo({ left: wanted, behavior: still.matches ? "auto" : "smooth" });
    }

    // Only the table scrolls, never the page.
    reveal() {
      const region = this.row.closest(".ladder");
      const card = this.row.querySelector(".hop-card").getBoundingClientRect();
      const frame = region.getBoundingClientRect();
      const head = region.querySelector("thead").getBoundingClientRect().height;
      const by = { left: 0, top: 0, behavior: still.matches ? "auto" : "smooth" };
      if (card.top < frame.top + head || card.bottom > frame.bottom) by.top = card.top - frame.top - head - 24;
      if (card.left < frame.left || card.right > frame.right) by.left = card.left - frame.left - 48;
      if (by.top || by.left) region.scrollBy(by);
    }

    key(event) {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      if (event.shiftKey) this.goPacket(step);
      else this.go(step < 0 ? "previous" : "next");
    }
  }

  function points(text) {
    return text.trim().split(" ").filter(Boolean).map((pair) => pair.split(",").map(Number));
  }

  function frames(way) {
    const lengths = way.map(([x, y], index) => (index ? Math.hypot(x - way[index - 1][0], y - way[index - 1][1]) : 0));
    const total = lengths.reduce((sum, each) => sum + each, 0) || 1;
    let gone = 0;
    return way.map(([x, y], index) => ({
      transform: `translate(${x}px, ${y}px)`,
      offset: Math.min((gone += lengths[index]) / total, 1),
    }));
  }

  const players = [...document.querySelectorAll(".packets")]
    .filter((section) => section.querySelector("tr.hop"))
    .map((section) => new Player(section));
  document.documentElement.classList.add("js");

  // A region that scrolls and a list of choices keep the keys they have of their own.
  const own = "select, input, textarea, .scroll";

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.target.matches(own)) return;
    const inside = players.find((each) => each.section.contains(event.target));
    (inside ?? players.find((each) => inSight(each.section)))?.key(event);
  });

  function inSight(section) {
    const box = section.getBoundingClientRect();
    return box.top < innerHeight && box.bottom > 0;
  }

  function openLinked() {
    const row = document.getElementById(location.hash.slice(1));
    if (!row?.matches("tr.hop")) return;
    const player = players.find((each) => each.section.contains(row));
    if (!player.rows.includes(row)) {
      const id = row.closest(".conversation").id;
      player.chooseConversation.value = id;
      player.filter(id);
    }
    player.goTo(row);
  }
  addEventListener("hashchange", openLinked);
  openLinked();
})();
