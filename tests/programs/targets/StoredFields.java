// A small Lucene index of two segments, made, or searched and read through MMapDirectory.
//   StoredFields make FOLDER DOCUMENTS
//   StoredFields read FOLDER SEARCHES
//
// `read` opens the index, searches once, says "ready" and waits for a line; then it searches for the number of one
// document after the other, fetches what is stored of it, says "done BYTES" and waits for another line.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.Random;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.MMapDirectory;

public class StoredFields {
  static final int BODY_BYTES = 4000;

  static void make(MMapDirectory folder, int documents) throws Exception {
    IndexWriterConfig config = new IndexWriterConfig().setUseCompoundFile(false).setMergePolicy(NoMergePolicy.INSTANCE);
    Random random = new Random(42);
    byte[] body = new byte[BODY_BYTES];
    try (IndexWriter writer = new IndexWriter(folder, config)) {
      for (int number = 0; number < documents; number++) {
        random.nextBytes(body);
        Document document = new Document();
        document.add(new StringField("number", "n" + number, Field.Store.NO));
        document.add(new StoredField("body", body));
        writer.addDocument(document);
        if (number == documents / 2) writer.commit();
      }
    }
  }

  static long fetch(IndexSearcher searcher, int number) throws Exception {
    TopDocs found = searcher.search(new TermQuery(new Term("number", "n" + number)), 1);
    return searcher.doc(found.scoreDocs[0].doc).getBinaryValue("body").length;
  }

  public static void main(String[] arguments) throws Exception {
    MMapDirectory folder = new MMapDirectory(Path.of(arguments[1]));
    int count = Integer.parseInt(arguments[2]);
    if (arguments[0].equals("make")) {
      make(folder, count);
      return;
    }
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    DirectoryReader reader = DirectoryReader.open(folder);
    IndexSearcher searcher = new IndexSearcher(reader);
    fetch(searcher, 0); // classes are loaded from here on
    System.out.println("ready");
    input.readLine();
    Random random = new Random(7);
    long bytes = 0;
    for (int search = 0; search < count; search++) bytes += fetch(searcher, random.nextInt(reader.maxDoc()));
    System.out.println("done " + bytes);
    input.readLine();
  }
}
