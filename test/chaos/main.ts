/** The program behind `npm run chaos`: kills what it is pointed at; status 0 when every node came through. */
import { runChaos } from '.';

const file = process.env.TEMPER_SYSTEM_FILE;
if (!file) {
  process.stderr.write('TEMPER_SYSTEM_FILE is not set: start this with `npm run chaos`.\n');
  process.exit(64);
}

runChaos(file, process.argv.slice(2), process.env.CHAOS_CLOCKS ?? '', (line) => process.stdout.write(`${line}\n`)).then(
  (well) => process.exit(well ? 0 : 1),
  (error: Error) => {
    process.stderr.write(`chaos: ${error.stack ?? error.message}\n`);
    process.exit(1);
  },
);
