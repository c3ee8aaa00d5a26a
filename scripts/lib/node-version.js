/** Refuses a Node that is too old, before any file with newer syntax is read; keep this one in old syntax. */

var needed = [20, 19];
var have = process.versions.node.split('.').map(Number);

if (have[0] < needed[0] || (have[0] === needed[0] && have[1] < needed[1])) {
  process.stderr.write(
    `temper: this is Node ${process.versions.node}; Temper needs Node ${needed.join('.')} or newer.\n`,
  );
  process.exit(1);
}
