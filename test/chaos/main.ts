/** The program behind `npm run chaos`: strikes what it is pointed at; status 0 when every node came through. */
import { runChaos } from '.';

const given = process.env.CHAOS_PLACES;
if (!given) {
  process.stderr.write('CHAOS_PLACES is not set: start this with `npm run chaos`.\n');
  process.exit(64);
}

runChaos(JSON.parse(given), process.argv.slice(2), (line) => process.stdout.write(`${line}\n`)).then(
  (well) => process.exit(well ? 0 : 1),
  (error: Error) => {
    process.stderr.write(`chaos: ${error.stack ?? error.message}\n`);
    process.exit(1);
  },
);
