"use strict";
// What both pages share. Whatever the data says is set as text, never as markup.

const $ = id => document.getElementById(id);

/** A new element; `content` is a string, a node, or a list of them. */
function element(tag, content = [], className = "") {
  const e = document.createElement(tag);
  e.append(...[content].flat());
  if (className) e.className = className;
  return e;
}

