/** The console's pages as members of the owner's and of the lessee's project read them. */
import { reading } from './support/reading';

reading(['owner-member', 'lessee-member']);
