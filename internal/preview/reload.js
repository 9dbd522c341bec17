// Reloads the page when the folder has changed since it was made.
"use strict";
const edition = new URL(document.currentScript.src).searchParams.get("edition");
new EventSource("/preview/events").onmessage = (event) => {
  if (event.data !== edition) location.reload();
};
