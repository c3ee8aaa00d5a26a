/** How the demo speaks: numbered chapters, one line an act, a table at the end. */

export type Teller = ReturnType<typeof createTeller>;

/** @param write where lines go */
export const createTeller = (write: (line: string) => void) => {
  let chapters = 0;
  const shown: { claim: string; proof: string; holds: boolean }[] = [];
  return {
    chapter(title: string): void {
      chapters += 1;
      write('');
      write(`${chapters}. ${title}`);
    },
    says(who: string, what: string): void {
      write(`   ${who.padEnd(14)} ${what}`);
    },
    note(line: string): void {
      write(`   ${line}`);
    },
    /** A claim of the product, with what was seen. A false one fails the demo at its end. */
    claim(claim: string, holds: boolean, proof: string): void {
      shown.push({ claim, proof, holds });
      write(`   ${holds ? '✓' : '✗'} ${claim}: ${proof}`);
    },
    /** Writes the table of claims; answers whether all hold. */
    end(): boolean {
      const width = Math.max(...shown.map(({ claim }) => claim.length));
      write('');
      write('What was shown');
      for (const { claim, proof, holds } of shown) write(`  ${holds ? '✓' : '✗'} ${claim.padEnd(width)}  ${proof}`);
      const failed = shown.filter(({ holds }) => !holds).length;
      write('');
      write(failed === 0 ? `All ${shown.length} hold.` : `${failed} of ${shown.length} do not hold.`);
      return failed === 0;
    },
    line: write,
  };
};
