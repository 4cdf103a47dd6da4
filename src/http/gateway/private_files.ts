// Whether a request for one of GNS3's file routes means a folder with conversations: GNS3 lets everybody who may see a
// project read its files, and everybody who may change it write them.

/** GNS3 decodes a path up to three times on its way to the file; what is wrapped more often is not looked at any closer. */
const MOST_DECODINGS = 8;

/**
 * Whether `path`, as it stands in the request, leads GNS3's file routes into a project's `gns3-copilot` or `.gns3-copilot`
 * folder, or cannot be told. Every file system's way to spell a name counts, and a name anywhere below `files`, so that no
 * way around through other folders is left.
 */
export function meansConversations(path: string): boolean {
  let plain = path;
  for (let i = 0; /%[0-9a-f]{2}/i.test(plain); i++) {
    if (i === MOST_DECODINGS) return /\/projects\/.*\/files\//is.test(plain);
    plain = decodedOnce(plain);
  }
  const names = plain.split(/[/\\:]/).map(letters);
  const files = names.indexOf("files");
  return files >= 0 && names.includes("gns3copilot", files + 1);
}

/** A name without what some file system does not tell apart: case, marks nobody sees, dots and blanks at its end. */
function letters(name: string): string {
  return name.normalize("NFKC").toLowerCase().replace(/[^a-z0-9]/g, "");
}

function decodedOnce(text: string): string {
  return text.replace(
    /(?:%[0-9a-f]{2})+/gi,
    (run) => new TextDecoder().decode(Uint8Array.from(run.slice(1).split("%"), (byte) => parseInt(byte, 16))),
  );
}
