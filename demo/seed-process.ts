/** The program that fills a fresh `npm start`. */
import { seed } from './seed';

const file = process.env.TEMPER_SYSTEM_FILE;
if (!file) {
  process.stderr.write('TEMPER_SYSTEM_FILE is not set: this is started by `npm start`.\n');
  process.exit(64);
}
seed(file, (line) => process.stdout.write(`${line}\n`)).catch((error: Error) => {
  process.stderr.write(`The rack could not be filled: ${error.message}\n`);
  process.exit(1);
});
