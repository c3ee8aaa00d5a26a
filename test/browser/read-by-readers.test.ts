/** The console's pages as those read them who change nothing, or see nothing. */
import { reading } from './support/reading';

reading(['system-reader', 'stranger-admin']);
