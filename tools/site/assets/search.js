// Finds passages in the index that is built into the site. A question in words loses the words that every page has.
const filler = new Set(
  'a an and are be can do does for from get have how i if in is it me my of on or should the to use was what when where which who why will with you your'.split(' '),
);
let loaded;

// Called with the index that assets/search-index.js leaves.
self.temperFind = ({ options, index }, question) => {
  loaded ??= MiniSearch.loadJS(index, options);
  const asked = {
    boost: { heading: 4, title: 2 },
    prefix: (term) => term.length > 2,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    processTerm: (term) => (filler.has(term.toLowerCase()) ? null : term.toLowerCase()),
  };
  const all = loaded.search(question, { ...asked, combineWith: 'AND' });
  return (all.length > 0 ? all : loaded.search(question, asked)).slice(0, 20);
};
