#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Corpora from texts keep their words, and new documents are read in the same way."""

import numpy as np
import pymc as pm
import pytest

from scipy import sparse

import pymc_geodesic as pmg

TEXTS = [
    "The goal of the last game, and the season's first goal.",
    "A game of a long season",
    "Parties lost a vote, and the parties vote again",
    "They vote",
]
sklearn = pytest.importorskip("sklearn.feature_extraction.text")


@pytest.fixture
def corpus():
    return pmg.BagOfWords.from_texts(TEXTS)


def test_words_that_documents_share_are_counted(corpus):
    assert corpus.vocabulary.tolist() == ["game", "season", "vote"]
    np.testing.assert_array_equal(
        corpus.matrix.toarray(), [[1, 1, 0], [1, 1, 0], [0, 0, 2], [0, 0, 1]]
    )
    np.testing.assert_array_equal(corpus.rows, range(4))


def test_texts_without_words_are_left_out_with_a_warning():
    with pytest.warns(UserWarning, match=r"1 of 5 texts have no word .* the first is number 2"):
        corpus = pmg.BagOfWords.from_texts([*TEXTS[:2], "Of this and that", *TEXTS[2:]])
    np.testing.assert_array_equal(corpus.rows, [0, 1, 3, 4])
    assert len(corpus) == 4


def test_a_vectorizer_of_ones_own_is_copied():
    vectorizer = sklearn.CountVectorizer(ngram_range=(2, 2))
    corpus = pmg.BagOfWords.from_texts(TEXTS, vectorizer=vectorizer)
    assert "last game" in corpus.vocabulary
    assert not hasattr(vectorizer, "vocabulary_")


def test_new_texts_have_the_same_words(corpus):
    new = corpus.like(["game game vote", "a new season of new games"])
    np.testing.assert_array_equal(new.matrix.toarray(), [[2, 0, 1], [0, 1, 0]])
    assert new.vocabulary.tolist() == corpus.vocabulary.tolist()
    with pytest.warns(UserWarning, match="1 of 2 documents have no word.*the first is number 0"):
        new = corpus.like(iter(["nothing known", "vote"]))
    assert new.rows.tolist() == [0, 1]
    np.testing.assert_array_equal(new.matrix.toarray(), [[0, 0, 0], [0, 0, 1]])
    with pytest.warns(UserWarning, match="1 of 2 documents have no word"):
        assert corpus.unit_vectors().like(["nothing known", "vote"]).rows.tolist() == [1]
    # And those read after these.
    np.testing.assert_array_equal(new.like(["vote"]).matrix.toarray(), [[0, 0, 1]])


@pytest.mark.parametrize(
    ("vocabulary", "text", "expected"),
    [
        (["game", "a", "vote"], "A game, a VOTE; gamer", [1, 2, 1]),
        (["Game", "game", "new game"], "Game game. The new game", [1, 2, 1]),
    ],
)
def test_texts_are_counted_by_the_words_of_given_counts(vocabulary, text, expected):
    learned = pmg.BagOfWords(np.eye(3, dtype=int) + 1, vocabulary=vocabulary)
    new = learned.like([text])
    np.testing.assert_array_equal(new.matrix.toarray(), [expected])
    again = learned.unit_vectors().like([text]).matrix.toarray()
    np.testing.assert_allclose(again, [np.divide(expected, np.linalg.norm(expected))])


def test_a_vocabulary_that_is_not_words_of_texts():
    learned = pmg.BagOfWords([[1, 1, 1]], vocabulary=["game", "can't", "u.s."])
    with pytest.raises(ValueError, match=r"got 2 others, such as \"can't\""):
        learned.like(["a game"])


@pytest.mark.parametrize("weigh", ["unit_vectors", "tf_idf"])
def test_new_texts_have_the_same_weights(corpus, weigh):
    weighted = getattr(corpus, weigh)()
    again = weighted.like(TEXTS)
    np.testing.assert_allclose(again.matrix.toarray(), weighted.matrix.toarray())
    assert again.vocabulary is not None
    # The company of a document does not change its weights.
    np.testing.assert_allclose(
        weighted.like(TEXTS[:1]).matrix.toarray(), again.matrix[[0]].toarray()
    )


def test_weights_of_a_vectorizer_are_its_own():
    vectorizer = sklearn.TfidfVectorizer()
    corpus = pmg.BagOfWords.from_texts(TEXTS, vectorizer=vectorizer)
    expected = vectorizer.fit(TEXTS).transform(["a last vote"]).toarray()
    np.testing.assert_allclose(corpus.like(["a last vote"]).matrix.toarray(), expected)


def test_weighted_documents_without_a_rare_word_are_left_out():
    counts = np.array([[1, 1, 0], [1, 0, 1], [1, 0, 0], [1, 2, 0], [1, 0, 2]])
    learned = pmg.BagOfWords(counts[[0, 1, 3, 4]], vocabulary=["the", "goal", "vote"]).tf_idf()
    with pytest.warns(UserWarning, match="1 of 5 documents"):
        new = learned.like(sparse.csr_matrix(counts))
    np.testing.assert_array_equal(new.rows, [0, 1, 3, 4])
    np.testing.assert_allclose(new.matrix.toarray(), learned.matrix.toarray())
    np.testing.assert_array_equal(new.idf, learned.idf)


def test_the_vocabulary_names_the_columns_of_a_model(corpus):
    with pm.Model(coords={"topic": range(2), "word": corpus.vocabulary}) as model:
        topics = pmg.SymmetricDirichlet("topics", 0.5, dims=("topic", "word"))
        pmg.LatentDirichletAllocation("w", topics, 0.5, observed=corpus)
    assert model.coords["word"] == ("game", "season", "vote")


@pytest.mark.parametrize(
    ("texts", "options", "error", "message"),
    [
        ("one text", {}, TypeError, "one for each document, got one"),
        ([1, "two"], {}, TypeError, "strings, one for each document, got int"),
        (["a text"], {"vectorizer": "count"}, TypeError, "`vectorizer` expected .* 'count'"),
    ],
)
def test_bad_texts(texts, options, error, message):
    with pytest.raises(error, match=message):
        pmg.BagOfWords.from_texts(texts, **options)


def test_bad_new_documents(corpus):
    with pytest.raises(TypeError, match="got one"):
        corpus.like("one text")
    with pytest.raises(ValueError, match="expected 3 columns, one per word, got 2"):
        corpus.like([[1, 2]])
    with pytest.raises(ValueError, match=r"have no vocabulary, got texts"):
        pmg.BagOfWords([[1, 2]]).like(["a text"])
    for unknown in ["zzzz"], ["", "of a"], [[0, 0, 0]]:
        with pytest.raises(ValueError, match="`documents` expected at least one with a word"):
            corpus.unit_vectors().like(unknown)
        with pytest.warns(UserWarning, match="documents have no word of the vocabulary, the first"):
            new = corpus.like(unknown)
        topics = [[0.2, 0.2, 0.6], [0.6, 0.2, 0.2]]
        shares = pmg.topics.proportions(topics, documents=new, alpha=[1.0, 3.0], rng=1)
        np.testing.assert_allclose(shares, len(unknown) * [[0.25, 0.75]])
        with pytest.raises(ValueError, match="`unit_vectors` expected documents with words"):
            new.unit_vectors()
    with pytest.raises(ValueError, match=r"expected texts with words .* got 1 texts: .* Pass an"):
        pmg.BagOfWords.from_texts(["one text"])
    with pytest.raises(ValueError, match="`vocabulary` expected 2 words, one per column, got 1"):
        pmg.BagOfWords([[1, 2]], vocabulary=["a"])


def test_missing_package(monkeypatch):
    monkeypatch.setattr("pymc_geodesic.topic_models.texts.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pymc_geodesic\[text\]"):
        pmg.BagOfWords.from_texts(TEXTS)
