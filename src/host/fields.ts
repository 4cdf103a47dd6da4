// Looks a word up among the fields of tshark's display filters.
import type { Field, FoundFields } from "./protocol.ts";
import { eachLine, type TsharkOptions } from "./tshark.ts";

/**
 * Fields and protocols whose name, else whose description, holds `keyword` as it is, upper and lower case alike. There
 * are more than 200,000, so tshark's list is read as it comes and never kept.
 */
export async function searchFields(
  keyword: string,
  limit: number,
  options: Omit<TsharkOptions, "mostOutput">,
): Promise<FoundFields> {
  const wanted = keyword.trim().toLowerCase();
  const ranked: Field[][] = [[], [], [], []];
  let total = 0;
  // Columns: kind (P protocol, F field), description, name, then for fields their type.
  await eachLine(["-G", "fields"], options, (line) => {
    const [kind, description = "", name = "", type = "protocol"] = line.split("\t");
    if (kind !== "P" && kind !== "F") return;
    const rank = rankOf(wanted, name.toLowerCase(), description.toLowerCase());
    if (rank < 0) return;
    total++;
    if (ranked[rank]!.length < limit) {
      ranked[rank]!.push({
        name,
        description,
        type: kind === "P" ? "protocol" : type.replace(/^FT_/, "").toLowerCase(),
      });
    }
  });
  return { fields: ranked.flat().slice(0, limit), total };
}

/** 0 the name itself, 1 the name's beginning, 2 within the name, 3 the description; -1 nowhere. */
function rankOf(wanted: string, name: string, description: string): number {
  if (name === wanted) return 0;
  if (name.startsWith(wanted)) return 1;
  if (name.includes(wanted)) return 2;
  return description.includes(wanted) ? 3 : -1;
}
