/** A reporter of Stryker: prints each mutant that no test noticed, or only by running out of its time, as it is found. */

const path = require('node:path');
const { root } = require('./paths');

const worthReading = ['Survived', 'NoCoverage', 'Timeout'];
/** Characters of a replacement; enough to tell the mutants of one line apart. */
const shown = 120;

class Survivors {
  onMutantTested({ status, fileName, location, mutatorName, replacement }) {
    if (!worthReading.includes(status)) return;
    const { line, column } = location.start;
    const place = `${path.relative(root, path.resolve(fileName))}:${line}:${column + 1}`;
    console.log(`${status} ${place} ${mutatorName}: ${String(replacement).replace(/\s+/g, ' ').slice(0, shown)}`);
  }
}

exports.strykerPlugins = [{ kind: 'Reporter', name: 'survivors', injectableClass: Survivors }];
