// Checks the HTML of every page of the sitemap, and of pages that are not in it, by html-validate.
import { HtmlValidate } from "html-validate";
import { equal } from "node:assert/strict";

const base = process.env.PALMARES_URL;

// What the standard requires; the other presets also have matters of style.
const validator = new HtmlValidate({ extends: ["html-validate:standard"] });

const sitemap = await (await fetch(`${base}/sitemap.xml`)).text();
const paths = [...sitemap.matchAll(/<loc>https?:\/\/[^/<]*([^<]*)<\/loc>/g)].map((m) => m[1] || "/");
paths.push(
  "/outils?q=agent&sort=name_asc", "/outils?q=xyzzy", "/outils?page=2", "/comparer", "/comparer?outils=babilune,varlope,mandibule", "/comparer?outils=babilune,murmurine",
  "/categories/chat?poids=exactitude:3,latence:1", "/categories/chat?poids=exactitude:x", "/categories/chat?tri=latence",
  "/comparer?outils=babilune,jaserin,x", "/carte?category=code", "/carte?pricing=beaucoup", "/cimetiere?reason=mort", "/nulle-part",
  "/avis/babilun", "/compte",
);

let problems = 0;
for (const path of paths) {
  const response = await fetch(base + path);
  equal(response.headers.get("Content-Type"), "text/html; charset=utf-8", path);
  const report = await validator.validateString(await response.text(), path);
  for (const { messages } of report.results) {
    for (const m of messages) {
      problems++;
      console.error(`${path}:${m.line}:${m.column}: ${m.message} (${m.ruleId})`);
    }
  }
}
equal(problems, 0, "problems in the HTML of pages");
console.log(`html-validate: ${paths.length} pages`);
