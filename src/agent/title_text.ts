// Makes a session's title out of what a model answered, or out of the user's words when that is of no use.

/** Longest title, in UTF-16 code units, so that it is at most as many characters by any way of counting. */
export const MAX_TITLE = 60;

const UNTITLED = "New conversation";

/** The title: the model's answer cleaned up, else the first words of `userText`, else "New conversation". */
export function titleText(answer: string, userText: string): string {
  return cleanTitle(answer) || firstWords(userText);
}

/** The first words of what the user said, at most `MAX_TITLE`; "New conversation" when there are none. */
export function firstWords(userText: string): string {
  return cut(oneLine(userText)) || UNTITLED;
}

/** A model's answer as a title: one line, no thinking, no quotes, at most `MAX_TITLE`; "" when nothing is left. */
export function cleanTitle(answer: string): string {
  const line = withoutThinking(answer).split(/[\r\n\u2028\u2029]+/).map(oneLine).find((text) =>
    /[\p{L}\p{N}]/u.test(text)
  );
  if (!line) return "";
  const plain = line
    .replace(/^(#+|[-*•>])\s+/, "")
    .replaceAll(/\*\*|__/g, "")
    .replace(/^["'“”„«»‘’`*]*(title|titre|titel|título|标题|標題|タイトル)["'*]*\s*[:：]\s*/i, "");
  return cut(unquote(plain));
}

/** A title stands near the beginning; the search for tags takes time quadratic in what it looks through. */
const MOST_SEARCHED = 20_000;

function withoutThinking(answer: string): string {
  const text = answer.slice(0, MOST_SEARCHED);
  const closed = text.replaceAll(/<(think|thinking)>[\s\S]*?<\/\1>/gi, "");
  // Without its opening tag everything before the closing one is thought; without its closing one, everything after.
  return closed.replace(/^[\s\S]*<\/think(ing)?>/i, "").replace(/<think(ing)?>[\s\S]*$/i, "");
}

/** Control and other invisible characters and runs of white space become single spaces. */
function oneLine(text: string): string {
  return text.toWellFormed().replaceAll(/[\s\p{Cc}\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]+/gu, " ")
    .trim();
}

function unquote(text: string): string {
  const inner = text.trim().replace(/^["'“”„«»‘’`「『《*]+/, "").replace(/["'“”„«»‘’`」』》*]+[.。]?$/, "")
    .trim();
  return inner.replace(/[.。]$/, "");
}

/** At most `MAX_TITLE` long: cut after a whole word if one ends in the second half, else after a whole grapheme. */
function cut(text: string): string {
  if (text.length <= MAX_TITLE) return text;
  let kept = "";
  for (const { segment } of new Intl.Segmenter().segment(text.slice(0, 4 * MAX_TITLE))) {
    if (kept.length + segment.length > MAX_TITLE) break;
    kept += segment;
  }
  const wordEnd = text[kept.length] === " " ? kept.length : kept.lastIndexOf(" ");
  return (wordEnd >= MAX_TITLE / 2 ? kept.slice(0, wordEnd) : kept).trim();
}
