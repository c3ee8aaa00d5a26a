/** The console's pages as those read them who may decide about nodes. */
import { reading } from './support/reading';

reading(['operator', 'owner-manager']);
