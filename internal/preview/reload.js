// Reloads the page when the folder has changed since it was made. Hidden pages do not
// listen: a browser has six connections to a host, for all its tabs. They learn of changes
// when they are shown again, as the first event is the current edition.
"use strict";
const edition = new URL(document.currentScript.src).searchParams.get("edition");
let events;
const listen = () => {
  events?.close();
  if (document.hidden) return;
  events = new EventSource("/preview/events");
  events.onmessage = (event) => {
    if (event.data !== edition) location.reload();
  };
};
document.addEventListener("visibilitychange", listen);
listen();
