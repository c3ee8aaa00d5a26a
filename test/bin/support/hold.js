/**
 * Loaded by NODE_OPTIONS in front of an entry: a request whose URL has `hold` keeps its process busy until the file HOLD_FILE
 * exists (or for 20 s, so that a test that fails ends).
 */
const { existsSync, writeSync } = require('node:fs');
const { Server } = require('node:http');

const { emit } = Server.prototype;
const cell = new Int32Array(new SharedArrayBuffer(4));

const hold = () => {
  writeSync(1, 'held\n');
  const end = Date.now() + 20_000;
  while (!existsSync(process.env.HOLD_FILE) && Date.now() < end) Atomics.wait(cell, 0, 0, 10);
  writeSync(1, existsSync(process.env.HOLD_FILE) ? 'released by the test\n' : 'released by itself\n');
};

Server.prototype.emit = function (name, request, ...rest) {
  if (name === 'request' && request.url.includes('hold')) hold();
  return emit.call(this, name, request, ...rest);
};
