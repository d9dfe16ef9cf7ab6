// The API as a page: every operation of openapi.json with its fields, an example, and a form that sends it.

import { byId, element } from "./elements.js";
import { key } from "./service.js";

const METHODS = ["get", "post", "delete"];

const response = await fetch("openapi.json");
const api = await response.json();
byId("version").textContent = `version ${api.info.version}`;
byId("description").textContent = api.info.description;
byId("operations").append(...Object.entries(api.paths).flatMap(([path, methods]) =>
  METHODS.filter((method) => methods[method]).map((method) => operation(path, method, methods[method]))));

/** A schema with its reference followed; of alternatives that with most to say. */
function resolved(schema) {
  if (schema.$ref) return resolved(schema.$ref.split("/").slice(1).reduce((part, name) => part[name], api));
  return schema;
}

function operation(path, method, { description = "", parameters = [], requestBody, responses }) {
  const body = requestBody && resolved(requestBody.content["application/json"].schema);
  const id = `${method}${path}`.replace(/\W+/g, "-");
  return element("section", { class: "operation", "aria-labelledby": id },
    element("h3", { id }, element("span", { class: "method" }, method.toUpperCase()), ` ${path}`),
    element("p", {}, description),
    parameters.length ? fields("Parameters", `${method} ${path}`, parameters.map((each) => [each.name, each.schema, each.description, each.required])) : null,
    body ? fields("Body", `${method} ${path}`, Object.entries(body.properties).map(([name, schema]) =>
      [name, schema, resolved(schema).description ?? schema.description, body.required?.includes(name)])) : null,
    element("p", { class: "quiet" }, "Statuses: ", Object.entries(responses).map(([status, { description: meaning }]) =>
      `${status} (${meaning})`).join(", ")),
    form(path, method, parameters, body));
}

function fields(caption, whose, rows) {
  const cells = ([name, schema, description, required]) => element("tr", {},
    element("th", { scope: "row" }, element("code", {}, name), required ? " (needed)" : ""),
    element("td", {}, typeOf(schema)),
    element("td", {}, description ?? "", schema.default === undefined || schema.default === null ? "" : ` Default: ${JSON.stringify(schema.default)}.`));
  const names = ["Name", "Type", "Meaning"].map((name) => element("th", { scope: "col" }, name));
  return element("div", { class: "scrolled", tabindex: "0", role: "region", "aria-label": `${caption} of ${whose}` },
    element("table", {}, element("caption", {}, caption), element("thead", {}, element("tr", {}, ...names)),
      element("tbody", {}, ...rows.map(cells))));
}

function typeOf(given) {
  const schema = resolved(given);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(" or ");
  if (schema.type === "array") return `list of ${typeOf(schema.items ?? {})}`;
  return schema.type ?? "any";
}

/** Sends the example, or what a reader makes of it. */
function form(path, method, parameters, body) {
  const example = body ? JSON.stringify(body.examples?.[0] ?? {}, null, 2) : null;
  const id = `${method}${path}`.replace(/\W+/g, "-");
  const inputs = parameters.map((each) => element("input", { name: each.name, id: `${id}-${each.name}`, autocomplete: "off" }));
  const text = example === null ? null : element("textarea", { id: `${id}-body`, rows: String(example.split("\n").length), spellcheck: "false" });
  if (text) text.value = example;
  const output = element("pre", { tabindex: "0", hidden: true, role: "region", "aria-label": `Response of ${method} ${path}` });
  const made = element("form", {},
    ...inputs.flatMap((input) => [element("label", { for: input.id }, input.name), input]),
    text && element("label", { for: text.id }, "Body"), text,
    element("button", {}, "Send"), output);
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    output.hidden = false;
    output.textContent = "…";
    output.textContent = await sent(path, method, Object.fromEntries(inputs.map((input) => [input.name, input.value])), text?.value);
  });
  return element("details", {}, element("summary", {}, "Try it"), made);
}

async function sent(path, method, values, body) {
  const query = new URLSearchParams();
  let address = path.slice(1);
  for (const [name, value] of Object.entries(values)) {
    if (address.includes(`{${name}}`)) address = address.replace(`{${name}}`, encodeURIComponent(value));
    else if (value) query.set(name, value);
  }
  const headers = { ...(body && { "Content-Type": "application/json" }), ...(key.get() && { Authorization: `Bearer ${key.get()}` }) };
  try {
    const reply = await fetch(query.size ? `${address}?${query}` : address, { method: method.toUpperCase(), headers, body });
    return `${reply.status} ${reply.statusText}\n\n${pretty(await reply.text())}`;
  } catch {
    return "The service cannot be reached.";
  }
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
