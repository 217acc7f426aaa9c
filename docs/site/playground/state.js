// What all parts of the page share.

export const PARTICLES = 100;
export const page = document.getElementById("gdr-playground");
/** The source, the changed parameters, and the last program without errors. */
export const state = {
  text: "",
  assembly: false,
  params: {},
  compiled: undefined,
  examples: []
};
/** Elements of the page by name. */
export const ui = {};
