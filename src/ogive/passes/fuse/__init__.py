"""Which values are kept in memory, and which are computed where they are used.

One round of `choose_kept` is two walks over the graph, on the assumption that the values below are
kept as the last round left them:

    costs go up       from sources to results: what computing a value in place takes
                      (`recompute_costs.summarize`)
    readers go down   from results to sources: which kernels read a value, and by which of their
                      loops (`kernel_readers.Readers`, of `axis_relations.View`s)

At each value of the way down both are known, and it is decided:

    kept      it becomes the root of a kernel of its own, in memory        `keep_reasons`, by the
                                                                           times of `keep_times`
    staged    its reader has a row of it in scratch memory                 `row_staging`
    neither   it joins the kernels of its readers, which are passed on to its sources

So softmax, `y = e / s` with `e = exp(x - m)`, goes, from the result down:

    y   is asked for: kept, the root of a kernel with the loops r0, r1
    s   varies along r0 alone, a prefix of these loops: it joins, with a loop r2 of its own
    e   is read by r1 and by r2, the same row by two loops: it is staged along that row
    m   varies along r0 as well: it joins, with a loop r3

Products on tensor cores, and attention on them, are found before the rounds (`tensor_products`,
`tensor_attention`), as are scores (`choose_staged.find_scores`): of these the kind decides.
"""
