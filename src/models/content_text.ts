// A message's content as text, for everyone who cannot do anything with its other parts.

/** Content as one string: text parts joined, content without text parts as JSON. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (content === null || content === undefined) return "";
  if (!Array.isArray(content)) return JSON.stringify(content);
  const texts = content.flatMap((part) => {
    if (typeof part === "string") return [part];
    return part?.type === "text" && typeof part.text === "string" ? [part.text as string] : [];
  });
  return texts.length > 0 || content.length === 0 ? texts.join("") : JSON.stringify(content);
}
