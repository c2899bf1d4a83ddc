// Words to subwords: the WordPiece tokenizers of weft's models, as `tokenizer.json` describes them.

const NOT_OURS = "this tokenizer is not one of weft's: WordPiece after NFKC, split at blanks.";
const SPACE = /\p{White_Space}+/u;

export class WordPiece {
  constructor(description) {
    const { model, normalizer, pre_tokenizer: splitting, added_tokens: added, post_processor: template } = description;
    if (model?.type !== "WordPiece" || splitting?.type !== "WhitespaceSplit") throw new Error(NOT_OURS);
    this.normalize = normalizerOf(normalizer);
    this.vocabulary = new Map(Object.entries(model.vocab));
    this.unknown = this.vocabulary.get(model.unk_token);
    this.continuing = model.continuing_subword_prefix;
    this.longest = model.max_input_chars_per_word;
    this.added = new Map(added.map(({ content, id }) => [content, id]));
    this.special = new RegExp(`(${[...this.added.keys()].map(escaped).join("|")})`, "u");
    [this.prefix, this.suffix] = aroundSentence(template);
    this.known = new Map();
  }

  // The ids of one word's subwords, at least one. Words are cut one at a time, whatever stands beside them.
  cut(word) {
    let ids = this.known.get(word);
    if (!ids) {
      ids = word.split(this.special).flatMap((part) => this.added.get(part) ?? this.#cutText(part));
      if (!ids.length) ids = [this.unknown];
      if (this.known.size > 100_000) this.known.clear();
      this.known.set(word, ids);
    }
    return ids;
  }

  // A sentence's subwords and the word that each belongs to.
  split(words) {
    const ids = [];
    const owners = [];
    words.forEach((word, number) => {
      for (const id of this.cut(word)) {
        ids.push(id);
        owners.push(number);
      }
    });
    return { ids, owners };
  }

  #cutText(text) {
    const pieces = this.normalize(text).split(SPACE).filter(Boolean);
    return pieces.flatMap((piece) => this.#cutPiece([...piece]));
  }

  // The longest subword first; a piece that cannot be put together of known ones is unknown as a whole.
  #cutPiece(characters) {
    if (characters.length > this.longest) return [this.unknown];
    const ids = [];
    for (let start = 0; start < characters.length; ) {
      let end = characters.length;
      let id;
      for (; end > start; end--) {
        const piece = characters.slice(start, end).join("");
        id = this.vocabulary.get(start ? this.continuing + piece : piece);
        if (id !== undefined) break;
      }
      if (id === undefined) return [this.unknown];
      ids.push(id);
      start = end;
    }
    return ids;
  }
}

// NFKC, or several steps with NFKC among them: weft's own tokenizers drop characters that cannot be seen, the points of
// Hebrew and the breathings of Greek, for which letters and marks are taken apart (NFD).
function normalizerOf(normalizer) {
  const steps = (normalizer?.type === "Sequence" ? normalizer.normalizers : [normalizer]).map((step) => {
    if (["NFD", "NFKC"].includes(step?.type)) return (text) => text.normalize(step.type);
    if (step?.type !== "Replace" || step.pattern.Regex === undefined) throw new Error(NOT_OURS);
    const pattern = new RegExp(step.pattern.Regex, "gu");
    return (text) => text.replace(pattern, () => step.content);
  });
  return (text) => steps.reduce((changed, step) => step(changed), text);
}

function aroundSentence({ single, special_tokens: special }) {
  const inside = single.findIndex((part) => part.Sequence);
  const idsOf = (parts) => parts.flatMap((part) => special[part.SpecialToken.id].ids);
  return [idsOf(single.slice(0, inside)), idsOf(single.slice(inside + 1))];
}

function escaped(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
