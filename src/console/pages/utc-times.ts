/** Times that people type into fields of the browser, which have no zone: pages say that they mean UTC. */

/** In ISO 8601; a text that is no time stays as it is, for the API to refuse. */
export const timeIn = (at: string): string => {
  const ms = /^[\d-]+T[\d:.]+$/.test(at) ? Date.parse(`${at}Z`) : Number.NaN;
  return Number.isNaN(ms) ? at : new Date(ms).toISOString();
};
